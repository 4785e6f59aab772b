//! MariaDB's SQL where the standard leaves something open.

use crate::sql::{Dialect, Explain, Param, RangePartitions, ResultRow, SqlType, TableDef};

/// Collation that compares strings byte by byte. It is the binary collation that does not ignore
/// trailing spaces (<https://mariadb.com/kb/en/supported-character-sets-and-collations/>).
pub(super) const COLLATION: &str = "utf8mb4_nopad_bin";

/// Characters of a text in an index: `VARCHAR(255)`.
pub(super) const INDEXED: usize = 255;

pub(super) struct MariaSql;

impl Dialect for MariaSql {
    /// Returns a row per table, with five of its ten columns:
    /// <https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/analyze-and-explain-statements/explain>.
    fn explain(&self) -> Option<Explain> {
        let read = |row: &dyn ResultRow, plan: &mut String| {
            let shown = [("table", 2), ("type", 3), ("key", 5), ("rows", 8), ("extra", 9)];
            let mut said = Vec::new();
            for (name, column) in shown {
                let mut room = String::new();
                said.extend(match row.any(column, &mut room)? {
                    Param::Int(value) => Some(format!("{name}: {value}")),
                    Param::Text(value) if !value.is_empty() => Some(format!("{name}: {value}")),
                    _ => None,
                });
            }
            plan.push_str(&said.join(", "));
            plan.push('\n');
            Ok(())
        };
        Some(Explain { prefix: "EXPLAIN", read })
    }

    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INT",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE",
            // Stored like any other TEXT, without its limit of 65,535 bytes.
            SqlType::Text => "LONGTEXT",
            SqlType::Bytes => "LONGBLOB",
        }
    }

    fn unsigned(&self, bits: u32) -> &'static str {
        if bits <= 16 { "SMALLINT UNSIGNED" } else { "INT UNSIGNED" }
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn upsert(&self, table: &str, columns: &[&str], key: &[&str]) -> String {
        let others = columns.iter().filter(|name| !key.contains(name)).map(|name| {
            let name = self.column(name);
            format!("{name} = VALUES({name})")
        });
        let mut set = others.collect::<Vec<_>>().join(", ");
        if let ("", Some(first)) = (&*set, key.first()) {
            // There is nothing to set, so a column is set to itself.
            let first = self.column(first);
            set = format!("{first} = {first}");
        }
        let insert = self.insert_rows(table, columns, 1);
        format!("{insert} ON DUPLICATE KEY UPDATE {set}")
    }

    fn index_names(&self, table: &str) -> Option<String> {
        Some(format!(
            "SELECT DISTINCT index_name FROM information_schema.statistics \
             WHERE table_schema = DATABASE() AND table_name = '{table}'"
        ))
    }

    /// An index or key of TEXT or BLOB only includes a prefix. All its columns together have at
    /// most 3,072 bytes, with 4 per character: three such texts, or twelve such byte strings
    /// (<https://mariadb.com/kb/en/innodb-limitations/>).
    fn indexed_type(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Text => "VARCHAR(255)",
            SqlType::Bytes => "VARBINARY(255)",
            of => self.type_name(of),
        }
    }

    /// Its optimiser does not use such a comparison as a range: EXPLAIN shows a scan of the key.
    fn row_values(&self) -> bool {
        false
    }

    /// EXPLAIN calls it `Using index for group-by`. A recursive query from group to group does not
    /// use it: it read the whole key for each.
    fn skips_in_groups(&self) -> bool {
        true
    }

    /// LONGTEXT that is checked to be JSON: <https://mariadb.com/kb/en/json-data-type/>. There is no
    /// binary form.
    fn json(&self) -> Option<&'static str> {
        Some("JSON")
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("CAST(JSON_VALUE({column}, '$.{field}') AS DOUBLE)"))
    }

    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("CAST(JSON_VALUE({column}, '$.{field}') AS SIGNED)"))
    }

    /// <https://mariadb.com/kb/en/json_value/>. Its result has the collation of the column: that of
    /// the type JSON is `utf8mb4_bin`, which ignores trailing spaces.
    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("JSON_VALUE({column}, '$.{field}') COLLATE {COLLATION}"))
    }

    /// Without FROM_UNIXTIME, which uses the session's time zone.
    fn month(&self, milliseconds: &str) -> Option<String> {
        let moment =
            format!("TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ({milliseconds} DIV 1000) SECOND");
        Some(format!("EXTRACT(YEAR_MONTH FROM {moment})"))
    }

    /// Stated explicitly, because a given server has its own defaults.
    fn around_table(&self, _: &TableDef) -> (&'static str, &'static str) {
        let options = " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
        ("CREATE TABLE", options)
    }

    fn range_partitions(&self) -> Option<&dyn RangePartitions> {
        Some(self)
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} DIV {divisor}")
    }

    fn correlation(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// The manual advises to drop a partition for old data
/// (<https://mariadb.com/kb/en/partition-maintenance/>).
impl RangePartitions for MariaSql {
    fn create(&self, table: &TableDef, column: &str, name: &str, _: i64, to: i64) -> Vec<String> {
        let whole = self.create_table(table);
        vec![format!(
            "{whole} PARTITION BY RANGE ({column}) (PARTITION {name} VALUES LESS THAN ({to}))"
        )]
    }

    fn add(&self, table: &str, name: &str, _: i64, to: i64) -> Option<String> {
        Some(format!(
            "ALTER TABLE {table} ADD PARTITION (PARTITION {name} VALUES LESS THAN ({to}))"
        ))
    }

    fn remove(&self, table: &str, name: &str, _: i64) -> String {
        format!("ALTER TABLE {table} DROP PARTITION {name}")
    }

    fn method(&self) -> &'static str {
        "ALTER TABLE … DROP PARTITION"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Nullable;

    #[test]
    fn a_string_in_the_key_has_a_length_and_elsewhere_none() {
        let table = TableDef {
            name: "t",
            columns: &[
                ("id", SqlType::Text, Nullable::No),
                ("words", SqlType::Text, Nullable::Yes),
            ],
            key: &["id"],
        };
        assert!(
            MariaSql.create_table(&table).starts_with(
                "CREATE TABLE t (id VARCHAR(255) NOT NULL, words LONGTEXT, PRIMARY KEY (id)) \
             ENGINE=InnoDB"
            ),
            "{}",
            MariaSql.create_table(&table)
        );
    }
}
