//! DuckDB by its C interface. The engine `duckdb` uses it, and so does the reader of row files.

pub mod api;
pub mod connection;
pub mod library;
pub mod stream;

/// Name in errors.
pub const NAME: &str = "duckdb";
