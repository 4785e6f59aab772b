//! DuckDB by its C interface. The engine with that name uses it, and files of rows are read by it.

pub mod api;
pub mod connection;
pub mod library;
pub mod stream;

/// Name in errors.
pub const NAME: &str = "duckdb";
