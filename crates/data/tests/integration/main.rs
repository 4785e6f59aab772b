//! Rows: generated, read, converted and refused.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

mod bad_logs;
mod common;
mod conversions;
mod lab_log;
mod shape;
mod synthetic;
mod tables;
mod tables_infer;
mod tables_made;
mod tables_memory;
mod tables_messy;
mod tables_parquet;
mod tables_query;
