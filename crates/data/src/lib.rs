//! Rows: reading files, generating, sampling and converting.
//!
//! Rows are `embermark_model::Reading`s. [`lab`] reads them from the Intel Berkeley Research Lab
//! log, and [`synthetic`] generates them from a seed. Both return a [`Log`] in chronological order.
//! [`sample`] selects fewer of them, and [`export`] writes them as CSV or Parquet. [`table`] has
//! the rows of any table that a workload file describes, and passes them to worker processes
//! through a mapped file. [`zipf`] draws random numbers by Zipf's law.

mod compressed;
pub mod draw;
mod error;
pub mod export;
mod faults;
pub mod lab;
mod log;
pub mod machine;
mod mapping;
mod parquet;
pub mod sample;
pub mod synthetic;
pub mod table;
pub mod telemetry;
pub mod zipf;

pub use error::DataError;
pub use log::Log;
pub use parquet::ParquetWriter;
