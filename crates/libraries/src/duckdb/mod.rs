//! DuckDB by its C interface: the engine of that name is built on it, and rows are read by it.

pub mod api;
pub mod connection;
pub mod library;
pub mod stream;

/// Its name in errors.
pub const NAME: &str = "duckdb";
