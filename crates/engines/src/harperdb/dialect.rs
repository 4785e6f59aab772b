//! HarperDB's SQL (<https://docs.harperdb.io/docs/reference/sql-guide>): one SELECT over tables and
//! joins of tables, which are named by their database. There are no subqueries, no WITH, no UNION
//! and no window functions.
//!
//! Its manual calls SQL a means for "ad-hoc data investigation", not for large tables. Seen with
//! 4.7: HAVING takes aggregates, but an alias in it matches nothing and is not an error; a result
//! column without an alias is named by the text of its expression.

use crate::sql::Dialect;

/// The dialect, for tables of one database.
pub(super) struct HarperSql {
    database: &'static str,
}

impl HarperSql {
    /// Returns the dialect for the tables of a database. The dialect of a store lives as long as the
    /// program, so it is never freed: a few bytes for each client.
    pub fn for_database(database: &str) -> &'static Self {
        Box::leak(Box::new(Self { database: database.to_owned().leak() }))
    }
}

impl Dialect for HarperSql {
    /// Parameters are never bound: the SQL operation takes only a text.
    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    fn table(&self, name: &str) -> String {
        format!("{}.{name}", self.database)
    }

    fn windows(&self) -> bool {
        false
    }

    fn derived_tables(&self) -> bool {
        false
    }

    /// HarperDB's numbers are doubles, exact for integers of up to 53 bits.
    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("FLOOR({dividend} / {divisor})")
    }

    /// `STDEV` leaves NULLs out and divides by one less; `STDDEV` and `STDEVP` do neither. Over
    /// fewer than two values it is 0 where standard SQL has NULL.
    fn sample_deviation(&self, column: &str) -> Option<String> {
        Some(format!("STDEV({column})"))
    }

    fn correlation(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}
