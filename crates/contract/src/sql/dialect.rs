//! How engines write what SQL leaves open.

use super::{Nullable, ResultRow, SqlType, TableDef};
use crate::Result;

/// How an engine writes a table that is parted by ranges of an integer column, so that the rows of a range go
/// as a whole. The column is part of the table's key.
pub trait RangePartitions: Sync {
    /// Statements that create the table, with a first part `name` for values from `from` up to but without
    /// `to`.
    fn create(&self, table: &TableDef, column: &str, name: &str, from: i64, to: i64)
    -> Vec<String>;

    /// The statement that adds a part above those that there are; `None` where its first row does.
    fn add(&self, table: &str, name: &str, from: i64, to: i64) -> Option<String>;

    /// The statement that removes the oldest part with its rows, of values up to but without `to`.
    fn remove(&self, table: &str, name: &str, to: i64) -> String;

    /// What that is, for a reader: `DROP TABLE of a partition`.
    fn about(&self) -> &'static str;
}

/// How a query asks for the plan of a query.
#[derive(Clone, Copy, Debug)]
pub struct Explain {
    /// What stands before it.
    pub prefix: &'static str,
    /// Adds what a row of the answer says, as lines.
    pub read: fn(&dyn ResultRow, &mut String) -> Result<()>,
}

/// How an engine writes what SQL leaves open. A default is standard SQL where there is one.
pub trait Dialect: Sync {
    /// How it is asked for the plan of a query; `None` where no query does that.
    fn explain(&self) -> Option<Explain> {
        None
    }

    /// The name of a type.
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INTEGER",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE PRECISION",
            SqlType::Text => "TEXT",
            SqlType::Bytes => "BLOB",
        }
    }

    /// The type of unsigned integers of so many bits, 16 or 32, or the nearest that holds those of one
    /// bit less.
    fn unsigned(&self, bits: u32) -> &'static str {
        if bits <= 16 { "SMALLINT" } else { "INTEGER" }
    }

    /// The place of parameter `n`, counted from 1.
    fn placeholder(&self, n: usize) -> String;

    /// How many bytes texts and bytes have at most in columns of [`type_name`](Self::type_name): longer
    /// ones are refused. `None` where they are as long as need be.
    fn longest(&self) -> Option<usize> {
        None
    }

    /// The type of a column of texts, or bytes, of which the longest is known, in bytes. What an engine
    /// says of one that it can neither order nor group stands with its dialect. `None`, the default:
    /// [`type_name`](Self::type_name).
    fn sized(&self, _of: SqlType, _longest: usize) -> Option<String> {
        None
    }

    /// The type of a column of texts that are documents, longer than a page perhaps, and are read and
    /// written whole.
    fn long_text(&self) -> &'static str {
        self.type_name(SqlType::Text)
    }

    /// The name of the type of a column that is part of the key or of an index. An engine may limit
    /// the length of texts and bytes there, and refuses what is longer.
    fn indexed_type(&self, of: SqlType) -> &'static str {
        self.type_name(of)
    }

    /// The type of a column of JSON documents kept as text, if the engine reads their fields.
    /// Values go in as strings.
    fn json(&self) -> Option<&'static str> {
        None
    }

    /// The type of a column of JSON documents in the engine's binary form, if it has one.
    fn binary_json(&self) -> Option<&'static str> {
        None
    }

    /// A document in that form, of a text parameter, whose place it is given.
    fn binary_json_of(&self, text: &str) -> String {
        text.to_owned()
    }

    /// The number in a field of a column of JSON documents, of either form, as a double; NULL where
    /// there is none.
    fn json_number(&self, _column: &str, _field: &str) -> Option<String> {
        None
    }

    /// SQL for the integer in a field of a JSON column, as text or binary; NULL where the field is absent. The
    /// default is exact up to 53 bits.
    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        let number = self.json_number(column, field)?;
        Some(format!("CAST({number} AS {})", self.type_name(SqlType::Big)))
    }

    /// SQL for the string in a field of a JSON column, as text or binary; NULL where the field is absent.
    fn json_text(&self, _column: &str, _field: &str) -> Option<String> {
        None
    }

    /// The year and the month of milliseconds since 1970-01-01 UTC, in UTC, as one integer: 202401. None before
    /// 1970.
    fn month(&self, _milliseconds: &str) -> Option<String> {
        None
    }

    /// The statement that creates a table.
    fn create_table(&self, table: &TableDef) -> String {
        self.create_table_of(table, &[])
    }

    /// The statement that creates a table of which some columns, by their names, have types in the
    /// engine's own words.
    fn create_table_of(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|(name, of, nullable)| {
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
            })
            .collect();
        let (name, columns) = (self.table(table.name), columns.join(", "));
        let key: Vec<String> = table.key.iter().map(|name| self.column(name)).collect();
        let key = match &key[..] {
            [] => String::new(),
            key => format!(", PRIMARY KEY ({})", key.join(", ")),
        };
        let (create, options) = self.around_table(table);
        format!("{create} {name} ({columns}{key}){options}")
    }

    /// [`create_table_of`](Self::create_table_of) for rows of which those at the key's end are asked for, where an
    /// engine reads an index one way only.
    fn create_table_read_backwards(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        self.create_table_of(table, types)
    }

    /// The statement that parts a new, empty table by the time in its key, an integer column of so many units a day, of an
    /// engine that does so to every table with one. `None`, the default: it does not.
    fn part_by_time(&self, _table: &TableDef, _time: &str, _units_per_day: i64) -> Option<String> {
        None
    }

    /// How it parts a table by ranges, where its manual advises that for rows that go by their age.
    fn range_partitions(&self) -> Option<&dyn RangePartitions> {
        None
    }

    /// The statement that removes a table, where it is there.
    fn drop_table(&self, name: &str) -> String {
        format!("DROP TABLE IF EXISTS {}", self.table(name))
    }

    /// The statement that puts a row in, in place of the one of its key where that is there. Parameters: the
    /// columns in order. By default `ON CONFLICT`, which PostgreSQL, SQLite and DuckDB have.
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

    /// The statement that inserts so many rows. Parameters: the columns of each, row after row.
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

    /// A type, in the engine's words, of a column in which no NULL may stand.
    fn not_null(&self, of: &str) -> String {
        format!("{of} NOT NULL")
    }

    /// The words before a table's name in the statement that creates it, and those after its columns.
    fn around_table(&self, _table: &TableDef) -> (&'static str, &'static str) {
        ("CREATE TABLE", "")
    }

    /// A query of the names of a table's indexes, one a row, as the engine's catalog has them; those of
    /// its keys may be among them. `None` where nothing tells.
    fn index_names(&self, _table: &str) -> Option<String> {
        None
    }

    /// Integer division of non-negative integers, rounding down.
    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} / {divisor}")
    }

    /// What integer division leaves, with the sign of the dividend.
    fn remainder(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} % {divisor}")
    }

    /// The mean of a column of integers, with its fraction.
    fn mean(&self, column: &str) -> String {
        format!("AVG({column})")
    }

    /// What ends a query that gives so many rows at most: a number, or the place of a parameter.
    fn limit(&self, rows: &str) -> String {
        format!("LIMIT {rows}")
    }

    /// The query of an expression's value, of no table.
    fn value(&self, expression: &str) -> String {
        format!("SELECT {expression}")
    }

    /// Sample standard deviation of a column, if the engine has it.
    fn sample_deviation(&self, column: &str) -> Option<String> {
        Some(format!("STDDEV_SAMP({column})"))
    }

    /// Pearson's correlation of two columns, if the engine has it.
    fn correlation(&self, y: &str, x: &str) -> Option<String> {
        Some(format!("CORR({y}, {x})"))
    }

    /// How a statement names a table.
    fn table(&self, name: &str) -> String {
        name.to_owned()
    }

    /// How a statement names a column, or gives one of a result its name.
    fn column(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Whether `(a, b) >= (?, ?)` is found as a range of a key of `a` and `b`. Where it is not, it is
    /// to be written out: `a >= ? AND (a > ? OR b >= ?)`.
    fn row_values(&self) -> bool {
        true
    }

    /// Whether it has window functions.
    fn windows(&self) -> bool {
        true
    }

    /// Whether a query may read from another query: a subquery in FROM, or WITH.
    fn derived_tables(&self) -> bool {
        true
    }

    /// Whether two derived tables are joined by computing each once. Else one of them is computed again for
    /// each row of the other, and a window function does better.
    fn joins_derived_tables(&self) -> bool {
        true
    }

    /// Whether GROUP BY takes an expression, written out.
    fn group_by_expression(&self) -> bool {
        true
    }

    /// Whether the newest rows of a few groups are found faster by one short query a group over
    /// the primary key than by one query that scans the table.
    fn seeks_by_key(&self) -> bool {
        true
    }

    /// Whether a question is planned better with its constants written in the statement than given as parameters.
    fn plans_with_constants(&self) -> bool {
        false
    }

    /// Whether MAX over the columns of a key, grouped by those before, is found by going from group to
    /// group in it, without a query that says so.
    fn skips_in_groups(&self) -> bool {
        false
    }
}
