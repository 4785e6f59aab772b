//! How engines write what SQL leaves open.

use super::{Nullable, ResultRow, SqlType, TableDef};
use crate::Result;

/// How an engine partitions a table by ranges of an integer column, so that the rows of a range are
/// removed as a whole. The column is part of the table's key.
pub trait RangePartitions: Sync {
    /// Returns the statements that create the table with a first partition `name` for values from
    /// `from` (inclusive) to `to` (exclusive).
    fn create(&self, table: &TableDef, column: &str, name: &str, from: i64, to: i64)
    -> Vec<String>;

    /// Returns the statement that adds a partition above the existing ones. `None` if its first row
    /// adds it.
    fn add(&self, table: &str, name: &str, from: i64, to: i64) -> Option<String>;

    /// Returns the statement that removes the oldest partition, which holds values below `to`.
    fn remove(&self, table: &str, name: &str, to: i64) -> String;

    /// Describes for a reader how a partition is removed: `DROP TABLE of a partition`.
    fn method(&self) -> &'static str;
}

/// How to ask for the plan of a query.
#[derive(Clone, Copy, Debug)]
pub struct Explain {
    /// Text before the query.
    pub prefix: &'static str,
    /// Adds the lines of one row of the answer.
    pub read: fn(&dyn ResultRow, &mut String) -> Result<()>,
}

/// How an engine writes what SQL leaves open. Defaults are standard SQL if it has a rule. An engine
/// in a library has the default of every method without a field in `struct embermark_dialect`. Such
/// a default is what any SQL engine can do, and `None` for a newer feature.
pub trait Dialect: Sync {
    /// Returns how to ask for the plan of a query. `None` if there is no query for that.
    fn explain(&self) -> Option<Explain> {
        None
    }

    /// Returns the name of a type.
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INTEGER",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE PRECISION",
            SqlType::Text => "TEXT",
            SqlType::Bytes => "BLOB",
        }
    }

    /// Returns the type of unsigned integers of `bits` bits (16 or 32). Without one it is the
    /// nearest type that holds integers of one bit less.
    fn unsigned(&self, bits: u32) -> &'static str {
        if bits <= 16 { "SMALLINT" } else { "INTEGER" }
    }

    /// Returns the placeholder of parameter `n`, counted from 1.
    fn placeholder(&self, n: usize) -> String;

    /// Returns the largest length in bytes of texts and bytes in columns of
    /// [`type_name`](Self::type_name). Longer values are refused. `None` if there is no limit.
    fn longest(&self) -> Option<usize> {
        None
    }

    /// Returns the type of a column of texts, or bytes, whose longest value in bytes is known. The
    /// engine's dialect explains types that it can neither sort nor group. `None`, the default, for
    /// [`type_name`](Self::type_name).
    fn sized(&self, _of: SqlType, _longest: usize) -> Option<String> {
        None
    }

    /// Returns the type of a column of document texts, which may be longer than a page and are read
    /// and written whole.
    fn long_text(&self) -> &'static str {
        self.type_name(SqlType::Text)
    }

    /// Returns the type of a column that is part of a key or an index. An engine may limit the
    /// length of texts and bytes there and refuse longer values.
    fn indexed_type(&self, of: SqlType) -> &'static str {
        self.type_name(of)
    }

    /// Returns the type of a column of JSON documents kept as text, if the engine reads their
    /// fields. Values are given as strings.
    fn json(&self) -> Option<&'static str> {
        None
    }

    /// Returns the type of a column of JSON documents in the engine's binary form, if it has one.
    fn binary_json(&self) -> Option<&'static str> {
        None
    }

    /// Converts a text parameter, given by its placeholder, to a document in that form.
    fn binary_json_of(&self, text: &str) -> String {
        text.to_owned()
    }

    /// Returns SQL for the number in a field of a JSON column (text or binary) as a double. NULL if
    /// the field is absent.
    fn json_number(&self, _column: &str, _field: &str) -> Option<String> {
        None
    }

    /// Returns SQL for the integer in a field of a JSON column (text or binary). NULL if the field
    /// is absent. The default is exact up to 53 bits.
    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        let number = self.json_number(column, field)?;
        Some(format!("CAST({number} AS {})", self.type_name(SqlType::Big)))
    }

    /// Returns SQL for the string in a field of a JSON column (text or binary). NULL if the field
    /// is absent.
    fn json_text(&self, _column: &str, _field: &str) -> Option<String> {
        None
    }

    /// Returns SQL for the UTC year and month of a time in milliseconds since 1970-01-01 UTC, as
    /// one integer: `202401`. No time is before 1970.
    fn month(&self, _milliseconds: &str) -> Option<String> {
        None
    }

    /// Returns the statement that creates a table.
    fn create_table(&self, table: &TableDef) -> String {
        self.create_table_of(table, &[])
    }

    /// Returns the statement that creates a table, with types in the engine's own words for some
    /// columns, given by name.
    fn create_table_of(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        let columns = table.columns.iter().map(|(name, of, nullable)| {
            let of = match types.iter().find(|(column, _)| column == name) {
                Some((_, own)) => own,
                None if table.key.contains(name) => self.indexed_type(*of),
                None => self.type_name(*of),
            };
            let of = match nullable {
                Nullable::Yes => (*of).to_owned(),
                Nullable::No => self.not_null(of),
            };
            format!("{} {of}", self.column(name))
        });
        let (name, columns) = (self.table(table.name), columns.collect::<Vec<_>>().join(", "));
        let key: Vec<String> = table.key.iter().map(|name| self.column(name)).collect();
        let key = match &key[..] {
            [] => String::new(),
            key => format!(", PRIMARY KEY ({})", key.join(", ")),
        };
        let (create, options) = self.around_table(table);
        format!("{create} {name} ({columns}{key}){options}")
    }

    /// Returns [`create_table_of`](Self::create_table_of) for a table whose queries read the end of
    /// the key, for an engine that reads an index in one direction only.
    fn create_table_read_backwards(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        self.create_table_of(table, types)
    }

    /// Returns the statement that partitions a new, empty table by the time in its key, for an
    /// engine that does so to every table with one. The time is an integer column with this number
    /// of units per day. `None`, the default, if the engine does not.
    fn part_by_time(&self, _table: &TableDef, _time: &str, _units_per_day: i64) -> Option<String> {
        None
    }

    /// Returns how the engine partitions a table by ranges, if its manual advises that for rows
    /// that expire.
    fn range_partitions(&self) -> Option<&dyn RangePartitions> {
        None
    }

    /// Returns the statement that removes a table if it exists.
    fn drop_table(&self, name: &str) -> String {
        format!("DROP TABLE IF EXISTS {}", self.table(name))
    }

    /// Returns the statement that inserts a row or replaces the one with the same key. Parameters:
    /// the columns in order. The default is `ON CONFLICT`, which PostgreSQL, SQLite and DuckDB
    /// have.
    fn upsert(&self, table: &str, columns: &[&str], key: &[&str]) -> String {
        let names = |names: &[&str]| {
            names.iter().map(|name| self.column(name)).collect::<Vec<_>>().join(", ")
        };
        let others = columns.iter().filter(|name| !key.contains(name)).map(|name| {
            let name = self.column(name);
            format!("{name} = excluded.{name}")
        });
        let others = others.collect::<Vec<_>>().join(", ");
        let action = match &*others {
            "" => "NOTHING".to_owned(),
            others => format!("UPDATE SET {others}"),
        };
        let (insert, key) = (self.insert_rows(table, columns, 1), names(key));
        format!("{insert} ON CONFLICT ({key}) DO {action}")
    }

    /// Returns the statement that inserts `rows` rows. Parameters: the columns of each, row after
    /// row.
    fn insert_rows(&self, table: &str, columns: &[&str], rows: usize) -> String {
        let width = columns.len();
        let row = |row: usize| {
            let places = (1..=width).map(|n| self.placeholder(row * width + n));
            format!("({})", places.collect::<Vec<_>>().join(", "))
        };
        let names: Vec<String> = columns.iter().map(|name| self.column(name)).collect();
        let rows: Vec<String> = (0..rows).map(row).collect();
        let (table, names, rows) = (self.table(table), names.join(", "), rows.join(", "));
        format!("INSERT INTO {table} ({names}) VALUES {rows}")
    }

    /// Returns a type in the engine's words for a column that allows no NULL.
    fn not_null(&self, of: &str) -> String {
        format!("{of} NOT NULL")
    }

    /// Returns the words before a table's name in the statement that creates it, and those after
    /// its columns.
    fn around_table(&self, _table: &TableDef) -> (&'static str, &'static str) {
        ("CREATE TABLE", "")
    }

    /// Returns a query for the names of a table's indexes, one per row, from the engine's catalog.
    /// Those of its keys may be among them. `None` if the engine has no such catalog.
    fn index_names(&self, _table: &str) -> Option<String> {
        None
    }

    /// Returns SQL for the integer division of non-negative integers, rounding down.
    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} / {divisor}")
    }

    /// Returns SQL for the remainder of an integer division, with the sign of the dividend.
    fn remainder(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} % {divisor}")
    }

    /// Returns SQL for the sum of a column. `is_large` if the sum may be beyond 64 bits.
    fn sum(&self, column: &str, _is_large: bool) -> String {
        format!("SUM({column})")
    }

    /// Returns SQL for the mean of a column of integers, with its fraction.
    fn mean(&self, column: &str) -> String {
        format!("AVG({column})")
    }

    /// Returns the end of a query that limits its rows: to a number or a placeholder.
    fn limit(&self, rows: &str) -> String {
        format!("LIMIT {rows}")
    }

    /// Returns the query for an expression's value, without a table.
    fn value(&self, expression: &str) -> String {
        format!("SELECT {expression}")
    }

    /// Returns SQL for the sample standard deviation of a column, if the engine has it.
    fn sample_deviation(&self, column: &str) -> Option<String> {
        Some(format!("STDDEV_SAMP({column})"))
    }

    /// Returns SQL for Pearson's correlation of two columns, if the engine has it.
    fn correlation(&self, y: &str, x: &str) -> Option<String> {
        Some(format!("CORR({y}, {x})"))
    }

    /// Returns the name of a table as a statement writes it.
    fn table(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Returns the name of a column, or the alias of a result column, as a statement writes it.
    fn column(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Whether `(a, b) >= (?, ?)` is found as a range of a key of `a` and `b`. If not, it must be
    /// written out: `a >= ? AND (a > ? OR b >= ?)`.
    fn row_values(&self) -> bool {
        true
    }

    /// Whether the engine has window functions.
    fn windows(&self) -> bool {
        true
    }

    /// Whether a query may read from another query: a subquery in FROM, or WITH.
    fn derived_tables(&self) -> bool {
        true
    }

    /// Whether two derived tables are joined by computing each once. Otherwise one of them is
    /// computed again for each row of the other, and a window function is faster.
    fn joins_derived_tables(&self) -> bool {
        true
    }

    /// Whether the newest rows of a few groups are found faster by one short query per group over
    /// the primary key than by one query that scans the table.
    fn seeks_by_key(&self) -> bool {
        true
    }

    /// Whether a query gets a better plan with constants in its text than with parameters.
    fn plans_with_constants(&self) -> bool {
        false
    }

    /// Whether MAX over the columns of a key, grouped by its first columns, skips from group to
    /// group in the key without a query that asks for that.
    fn skips_in_groups(&self) -> bool {
        false
    }
}
