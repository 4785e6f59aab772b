//! DuckDB's dialect.

use crate::sql::{Dialect, SqlType};

/// The dialect.
pub(super) struct DuckDialect;

impl Dialect for DuckDialect {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INTEGER",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE",
            SqlType::Text => "VARCHAR",
        }
    }

    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} // {divisor}")
    }

    /// DuckDB's CORR is NaN where there is no variance, where the standard says NULL; its NaN
    /// equals itself.
    fn correlation(&self, y: &str, x: &str) -> Option<String> {
        Some(format!("NULLIF(CORR({y}, {x}), 'NaN'::DOUBLE)"))
    }

    fn seeks_by_key(&self) -> bool {
        false
    }
}
