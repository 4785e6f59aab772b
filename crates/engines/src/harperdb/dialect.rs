//! HarperDB's SQL (<https://docs.harperdb.io/docs/reference/sql-guide>): one SELECT over tables and
//! joins of them, named by their database. No subqueries, no WITH, no UNION, no window functions.
//!
//! Its manual calls SQL a means for "ad-hoc data investigation", not for large tables. Seen with
//! 4.7: HAVING takes aggregates, but an alias in it matches nothing and is no error; a result
//! column without an alias is named by its expression's text.

use crate::sql::Dialect;

/// The dialect, for tables of one database.
pub(super) struct HarperSql {
    database: &'static str,
}

/// The dialect of a private server's tables.
pub(super) static PRIVATE: HarperSql = HarperSql { database: super::managed::DATABASE };

impl HarperSql {
    /// For the tables of a database whose name was made up for this run. The dialect of a store
    /// lives as long as the program, so this one is never freed: a few bytes for a `--url`.
    pub fn of(database: &str) -> &'static Self {
        Box::leak(Box::new(Self { database: database.to_owned().leak() }))
    }
}

impl Dialect for HarperSql {
    /// Nothing is ever bound: its SQL operation takes the text alone.
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

    /// Its numbers are doubles, exact for integers of up to 53 bits.
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
