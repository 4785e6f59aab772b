//! SQLite's dialect.

use crate::sql::{Dialect, Explain, ResultRow, SqlType, TableDef};

pub(super) struct SqliteDialect;

/// Most texts outside the key of a row that counts as narrow. A twentieth of a 4 KiB page is 205
/// bytes (<https://www.sqlite.org/withoutrowid.html#when_to_use_without_rowid>), and a definition
/// does not say how long texts are.
const MOST_TEXTS: usize = 5;

impl Dialect for SqliteDialect {
    /// Returns for each step its number, the number of the step it is part of, and what it does:
    /// <https://www.sqlite.org/eqp.html>.
    fn explain(&self) -> Option<Explain> {
        let read = |row: &dyn ResultRow, plan: &mut String| {
            let is_part = row.int(1)?.is_some_and(|of| of > 0);
            let indent = if is_part { "  " } else { "" };
            plan.push_str(&format!("{indent}{}\n", row.text(3)?.unwrap_or_default()));
            Ok(())
        };
        Some(Explain { prefix: "EXPLAIN QUERY PLAN", read })
    }

    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int | SqlType::Big => "INTEGER",
            SqlType::Double => "REAL",
            SqlType::Text => "TEXT",
            SqlType::Bytes => "BLOB",
        }
    }

    fn placeholder(&self, n: usize) -> String {
        format!("?{n}")
    }

    /// SUM of whole numbers fails beyond 64 bits: <https://www.sqlite.org/lang_aggfunc.html#sumunc>.
    fn sum(&self, column: &str, is_large: bool) -> String {
        if is_large { format!("SUM(CAST({column} AS REAL))") } else { format!("SUM({column})") }
    }

    /// "SQLite stores JSON as ordinary text": <https://www.sqlite.org/json1.html>. A column declared
    /// JSON would have the affinity of numbers.
    fn json(&self) -> Option<&'static str> {
        Some("TEXT")
    }

    /// Since SQLite 3.45: <https://www.sqlite.org/jsonb.html>.
    fn binary_json(&self) -> Option<&'static str> {
        Some("BLOB")
    }

    fn binary_json_of(&self, text: &str) -> String {
        format!("jsonb({text})")
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        self.json_text(column, field)
    }

    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        self.json_text(column, field)
    }

    /// The operator returns the field's value in SQL's own type, number or text.
    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("{column} ->> '$.{field}'"))
    }

    /// <https://www.sqlite.org/lang_datefunc.html>
    fn month(&self, milliseconds: &str) -> Option<String> {
        Some(format!("CAST(strftime('%Y%m', {milliseconds} / 1000, 'unixepoch') AS INTEGER)"))
    }

    /// A key of one INTEGER column is the row id, by which a table is stored. For other keys the
    /// manual advises WITHOUT ROWID, which stores the table by that key and saves a second tree and
    /// a second search: <https://www.sqlite.org/withoutrowid.html>.
    fn around_table(&self, table: &TableDef) -> (&'static str, &'static str) {
        let is_integer = |key: &str| {
            let mut columns = table.columns.iter();
            columns.any(|(name, of, _)| *name == key && self.type_name(*of) == "INTEGER")
        };
        let stored_by_number = matches!(table.key, [key] if is_integer(key));
        // The manual advises it for rows of less than a twentieth of a page.
        let texts = table.columns.iter().filter(|(name, of, _)| {
            matches!(of, SqlType::Text | SqlType::Bytes) && !table.key.contains(name)
        });
        let is_wide = texts.count() > MOST_TEXTS;
        let rowid = stored_by_number || is_wide || table.key.is_empty();
        ("CREATE TABLE", if rowid { "" } else { " WITHOUT ROWID" })
    }

    fn index_names(&self, table: &str) -> Option<String> {
        Some(format!("SELECT name FROM pragma_index_list('{table}')"))
    }

    fn sample_deviation(&self, _: &str) -> Option<String> {
        None
    }

    fn correlation(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
