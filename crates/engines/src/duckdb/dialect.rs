//! DuckDB's dialect.

use super::plan::EXPLAIN;
use crate::sql::{Dialect, Explain, SqlType};

pub(super) struct DuckDialect;

impl Dialect for DuckDialect {
    fn explain(&self) -> Option<Explain> {
        Some(EXPLAIN)
    }

    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INTEGER",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE",
            SqlType::Text => "VARCHAR",
            SqlType::Bytes => "BLOB",
        }
    }

    fn unsigned(&self, bits: u32) -> &'static str {
        if bits <= 16 { "USMALLINT" } else { "UINTEGER" }
    }

    fn placeholder(&self, n: usize) -> String {
        format!("${n}")
    }

    fn index_names(&self, table: &str) -> Option<String> {
        Some(format!("SELECT index_name FROM duckdb_indexes() WHERE table_name = '{table}'"))
    }

    fn integer_division(&self, dividend: &str, divisor: &str) -> String {
        format!("{dividend} // {divisor}")
    }

    /// Text that DuckDB validates as JSON: <https://duckdb.org/docs/stable/data/json/json_type>. It
    /// has no binary form.
    fn json(&self) -> Option<&'static str> {
        Some("JSON")
    }

    fn json_number(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("CAST(({column} ->> '$.{field}') AS DOUBLE)"))
    }

    fn json_integer(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("CAST(({column} ->> '$.{field}') AS BIGINT)"))
    }

    /// The operator binds weakly, hence the parentheses:
    /// <https://duckdb.org/docs/stable/data/json/json_functions>.
    fn json_text(&self, column: &str, field: &str) -> Option<String> {
        Some(format!("({column} ->> '$.{field}')"))
    }

    /// <https://duckdb.org/docs/stable/sql/functions/timestamp>
    fn month(&self, milliseconds: &str) -> Option<String> {
        let timestamp = format!("make_timestamp_ms({milliseconds})");
        Some(format!("(year({timestamp}) * 100 + month({timestamp}))"))
    }

    /// DuckDB's CORR is NaN without variance, where the standard requires NULL. Its NaN equals
    /// itself.
    fn correlation(&self, y: &str, x: &str) -> Option<String> {
        Some(format!("NULLIF(CORR({y}, {x}), 'NaN'::DOUBLE)"))
    }

    /// DuckDB scans with and without row values. Without them it can skip row groups by their least
    /// and greatest values.
    fn row_values(&self) -> bool {
        false
    }

    fn seeks_by_key(&self) -> bool {
        false
    }

    /// A comparison with a constant is pushed down into the scan, where it skips row groups. A
    /// comparison with a parameter is not.
    fn plans_with_constants(&self) -> bool {
        true
    }
}
