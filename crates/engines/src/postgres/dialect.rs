//! PostgreSQL's SQL where the standard leaves something open.

use embermark_model::Durability;

use super::tier::TIERS;
use crate::sql::{BinaryJson, Dialect, TableDef};

/// The dialect of a tier: tables that may vanish in a crash are created UNLOGGED.
pub(super) fn of(durability: Durability) -> &'static dyn Dialect {
    if TIERS.of(durability).set.unlogged { &Unlogged } else { &Logged }
}

struct Logged;

struct Unlogged;

impl Dialect for Logged {
    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn json(&self) -> Option<&'static str> {
        Some("json")
    }

    /// <https://www.postgresql.org/docs/15/datatype-json.html>
    fn binary_json(&self) -> Option<BinaryJson> {
        Some(BinaryJson { type_name: "jsonb", of_text: |place| format!("{place}::jsonb") })
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("CAST({column} ->> '{field}' AS double precision)"))
    }

    /// <https://www.postgresql.org/docs/15/functions-json.html>
    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("({column} ->> '{field}')"))
    }

    /// <https://www.postgresql.org/docs/15/functions-datetime.html>
    fn month(&self, milliseconds: &str) -> Option<String> {
        let moment = format!("to_timestamp({milliseconds} / 1000) AT TIME ZONE 'UTC'");
        Some(format!("CAST(date_part('month', {moment}) AS integer)"))
    }
}

impl Dialect for Unlogged {
    fn placeholder(&self, n: usize) -> String {
        Logged.placeholder(n)
    }

    fn json(&self) -> Option<&'static str> {
        Logged.json()
    }

    fn binary_json(&self) -> Option<BinaryJson> {
        Logged.binary_json()
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        Logged.json_number(column, field)
    }

    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Logged.json_text(column, field)
    }

    fn month(&self, milliseconds: &str) -> Option<String> {
        Logged.month(milliseconds)
    }

    fn create_table_of(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        let create = Logged.create_table_of(table, types);
        create.replacen("CREATE TABLE", "CREATE UNLOGGED TABLE", 1)
    }
}
