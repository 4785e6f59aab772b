//! PostgreSQL's SQL where the standard leaves something open.

use embermark_model::Durability;

use super::tier::TIERS;
use crate::sql::{BinaryJson, Dialect, SqlType, TableDef};

/// The dialect of a tier: tables that may vanish in a crash are created UNLOGGED.
pub(super) fn of(durability: Durability) -> &'static dyn Dialect {
    match TIERS.of(durability).set.unlogged {
        true => &PostgresSql { create: "CREATE UNLOGGED TABLE" },
        false => &PostgresSql { create: "CREATE TABLE" },
    }
}

struct PostgresSql {
    create: &'static str,
}

impl Dialect for PostgresSql {
    /// Texts are compared by their bytes whatever the database's own collation, which on a server that
    /// is given may be any: <https://www.postgresql.org/docs/15/collation.html>.
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "integer",
            SqlType::Big => "bigint",
            SqlType::Double => "double precision",
            SqlType::Text => "text COLLATE \"C\"",
            SqlType::Bytes => "bytea",
        }
    }

    /// No smaller ones: binary COPY wants a value in the width of its column
    /// (<https://www.postgresql.org/docs/15/sql-copy.html>), and rows to load have 32 bits or 64.
    fn unsigned(&self, _: u32) -> &'static str {
        self.type_name(SqlType::Int)
    }

    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn index_names(&self, table: &str) -> Option<String> {
        Some(format!(
            "SELECT CAST(indexname AS TEXT) FROM pg_indexes \
             WHERE schemaname = CURRENT_SCHEMA() AND tablename = '{table}'"
        ))
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

    fn around_table(&self, _: &TableDef) -> (&'static str, &'static str) {
        (self.create, "")
    }
}
