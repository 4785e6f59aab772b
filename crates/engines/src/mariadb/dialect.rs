//! MariaDB's SQL where the standard leaves something open.

use crate::sql::{Dialect, Nullable, SqlType, TableDef};

/// What compares strings as they are, byte by byte: of the binary collations the one that does
/// not ignore spaces at the end
/// (<https://mariadb.com/kb/en/supported-character-sets-and-collations/>).
pub(super) const COLLATION: &str = "utf8mb4_nopad_bin";

/// The dialect.
pub(super) struct MariaSql;

impl Dialect for MariaSql {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INT",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE",
            // Stored as any other TEXT, without its limit of 65,535 bytes.
            SqlType::Text => "LONGTEXT",
        }
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    /// A string of the key is a VARCHAR of 255 characters, because a key of TEXT is one of its
    /// first characters only. Engine and collation are named: a server that is given has its own
    /// defaults.
    fn create_table(&self, table: &TableDef) -> String {
        let column = |(name, of, nullable): &(&str, SqlType, Nullable)| {
            let in_key = *of == SqlType::Text && table.key.contains(name);
            let of = if in_key { "VARCHAR(255)" } else { self.type_name(*of) };
            let not_null = if *nullable == Nullable::No { " NOT NULL" } else { "" };
            format!("{name} {of}{not_null}")
        };
        let columns: Vec<String> = table.columns.iter().map(column).collect();
        let (name, columns, key) = (table.name, columns.join(", "), table.key.join(", "));
        format!(
            "CREATE TABLE {name} ({columns}, PRIMARY KEY ({key})) \
             ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE {COLLATION}"
        )
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} DIV {divisor}")
    }

    fn correlation(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
