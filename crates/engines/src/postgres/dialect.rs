//! PostgreSQL's SQL where the standard leaves something open.

use embermark_model::Durability;

use super::extension::Extension;
use super::features::{Feature, Features};
use super::tier::TIERS;
use crate::sql::{Dialect, Explain, RangePartitions, ResultRow, SqlType, TableDef};

/// Returns the dialect of a tier on a server. Tables that can be lost in a crash are created
/// UNLOGGED, if the server has that. It is created once per connection to a given server, and never
/// freed.
pub(super) fn for_tier(durability: Durability, features: Features) -> &'static dyn Dialect {
    const ALL: Features = Features::ALL;
    let unlogged = TIERS.for_tier(durability).set && features.has(Feature::Unlogged);
    let create = if unlogged { UNLOGGED } else { LOGGED };
    match (features, unlogged) {
        (ALL, true) => &PostgresSql { create: UNLOGGED, features: ALL, extension: None },
        (ALL, false) => &PostgresSql { create: LOGGED, features: ALL, extension: None },
        _ => Box::leak(Box::new(PostgresSql { create, features, extension: None })),
    }
}

/// Returns the dialect of a server with TimescaleDB. It is created once per connection, and never
/// freed.
pub(super) fn with_hypertables(features: Features, extension: Extension) -> &'static dyn Dialect {
    Box::leak(Box::new(PostgresSql { create: LOGGED, features, extension: Some(extension) }))
}

const LOGGED: &str = "CREATE TABLE";
const UNLOGGED: &str = "CREATE UNLOGGED TABLE";

struct PostgresSql {
    create: &'static str,
    features: Features,
    /// TimescaleDB, if tables by time become hypertables.
    extension: Option<Extension>,
}

impl Dialect for PostgresSql {
    /// <https://www.postgresql.org/docs/18/using-explain.html>
    fn explain(&self) -> Option<Explain> {
        let read = |row: &dyn ResultRow, plan: &mut String| {
            plan.push_str(row.text(0)?.unwrap_or_default());
            plan.push('\n');
            Ok(())
        };
        Some(Explain { prefix: "EXPLAIN (COSTS OFF)", read })
    }

    /// Texts are compared by their bytes, whatever the database's collation, which on a given
    /// server can be any: <https://www.postgresql.org/docs/18/collation.html>.
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "integer",
            SqlType::Big => "bigint",
            SqlType::Double => "double precision",
            SqlType::Text if self.features.has(Feature::ByteOrder) => "text COLLATE \"C\"",
            SqlType::Text => "text",
            SqlType::Bytes => "bytea",
        }
    }

    /// Smaller types are not used: binary COPY requires values of the column's width
    /// (<https://www.postgresql.org/docs/18/sql-copy.html>), and rows to load have 32 or 64 bits.
    fn unsigned(&self, _: u32) -> &'static str {
        self.type_name(SqlType::Int)
    }

    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn index_names(&self, table: &str) -> Option<String> {
        self.features.has(Feature::Indexes).then(|| {
            format!(
                "SELECT CAST(indexname AS TEXT) FROM pg_indexes \
                 WHERE schemaname = CURRENT_SCHEMA() AND tablename = '{table}'"
            )
        })
    }

    fn json(&self) -> Option<&'static str> {
        self.features.has(Feature::Json).then_some("json")
    }

    /// <https://www.postgresql.org/docs/18/datatype-json.html>
    fn binary_json(&self) -> Option<&'static str> {
        self.features.has(Feature::JsonBinary).then_some("jsonb")
    }

    fn binary_json_of(&self, text: &str) -> String {
        format!("{text}::jsonb")
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        self.documents().then(|| format!("CAST({column} ->> '{field}' AS double precision)"))
    }

    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        self.documents().then(|| format!("CAST({column} ->> '{field}' AS bigint)"))
    }

    /// <https://www.postgresql.org/docs/18/functions-json.html>
    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        self.documents().then(|| format!("({column} ->> '{field}')"))
    }

    /// <https://www.postgresql.org/docs/18/functions-datetime.html>
    fn month(&self, milliseconds: &str) -> Option<String> {
        let moment = format!("to_timestamp({milliseconds} / 1000) AT TIME ZONE 'UTC'");
        let month = format!(
            "CAST(date_part('year', {moment}) * 100 + date_part('month', {moment}) AS integer)"
        );
        self.features.has(Feature::Months).then_some(month)
    }

    fn around_table(&self, _: &TableDef) -> (&'static str, &'static str) {
        (self.create, "")
    }

    fn part_by_time(&self, table: &TableDef, time: &str, units_per_day: i64) -> Option<String> {
        let extension = self.extension.as_ref()?;
        Some(extension.by_time(table.name, time, units_per_day))
    }

    /// Partitions of PostgreSQL itself, and chunks of TimescaleDB. Other servers with its protocol
    /// have others.
    fn range_partitions(&self) -> Option<&dyn RangePartitions> {
        (self.features == Features::ALL || self.extension.is_some()).then_some(self)
    }
}

/// Declarative partitioning. The manual advises to drop a partition for old data
/// (<https://www.postgresql.org/docs/18/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE>).
impl RangePartitions for PostgresSql {
    /// The table itself has no rows and cannot be unlogged. Its partitions are.
    fn create(
        &self,
        table: &TableDef,
        column: &str,
        name: &str,
        from: i64,
        to: i64,
    ) -> Vec<String> {
        let whole = self.create_table(table).replacen(self.create, LOGGED, 1);
        if let Some(extension) = &self.extension {
            return vec![whole, extension.by_range(table.name, column, to - from)];
        }
        let parted = format!("{whole} PARTITION BY RANGE ({column})");
        std::iter::once(parted).chain(self.add(table.name, name, from, to)).collect()
    }

    /// The first row in its range creates a chunk.
    fn add(&self, table: &str, name: &str, from: i64, to: i64) -> Option<String> {
        let create = self.create;
        self.extension.is_none().then(|| {
            format!(
                "{create} {table}_{name} PARTITION OF {table} FOR VALUES FROM ({from}) TO ({to})"
            )
        })
    }

    fn remove(&self, table: &str, name: &str, to: i64) -> String {
        match &self.extension {
            Some(extension) => extension.drop_before(table, to),
            None => format!("DROP TABLE {table}_{name}"),
        }
    }

    fn method(&self) -> &'static str {
        match self.extension {
            Some(_) => "drop_chunks of a hypertable",
            None => "DROP TABLE of a partition",
        }
    }
}

impl PostgresSql {
    /// Returns whether it can read fields of documents.
    fn documents(&self) -> bool {
        self.features.has(Feature::Json) || self.features.has(Feature::JsonBinary)
    }
}
