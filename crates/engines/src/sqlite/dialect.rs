//! SQLite's dialect.

use crate::sql::{Dialect, SqlType, TableDef};

/// The dialect.
pub(super) struct SqliteDialect;

/// The same with tables as standard SQL creates them.
struct Plain;

fn type_name(of: SqlType) -> &'static str {
    match of {
        SqlType::Int | SqlType::Big => "INTEGER",
        SqlType::Double => "REAL",
        SqlType::Text => "TEXT",
    }
}

impl Dialect for Plain {
    fn type_name(&self, of: SqlType) -> &'static str {
        type_name(of)
    }

    fn placeholder(&self, n: usize) -> String {
        format!("?{n}")
    }
}

impl Dialect for SqliteDialect {
    fn type_name(&self, of: SqlType) -> &'static str {
        type_name(of)
    }

    fn placeholder(&self, n: usize) -> String {
        Plain.placeholder(n)
    }

    /// A key of one INTEGER column is the row's own number, by which a table is stored. With any
    /// other key the manual advises WITHOUT ROWID, which stores the table by that key and saves a
    /// second tree and a second search: <https://www.sqlite.org/withoutrowid.html>.
    fn create_table(&self, table: &TableDef) -> String {
        let is_integer = |key: &str| {
            let mut columns = table.columns.iter();
            columns.any(|(name, of, _)| *name == key && type_name(*of) == "INTEGER")
        };
        let stored_by_number = matches!(table.key, [key] if is_integer(key));
        let storage = if stored_by_number { "" } else { " WITHOUT ROWID" };
        Plain.create_table(table) + storage
    }

    fn sample_deviation(&self, _: &str) -> Option<String> {
        None
    }

    fn correlation(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
