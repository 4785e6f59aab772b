//! Where rows come from: files, generators, sampling, conversion.
//!
//! Rows are `embermark_model::Reading`s. [`lab`] reads them from the Intel Berkeley Research Lab
//! log, [`synthetic`] makes them from a seed; both hand out a [`Log`] in chronological order.
//! [`sample`] draws fewer of them, [`export`] writes them out as CSV or Parquet.
//! [`table`] has the rows of any table, as workload files describe them, and hands them to worker
//! processes through a mapped file; [`zipf`] draws by Zipf's law.

mod compressed;
pub mod draw;
mod error;
pub mod export;
mod faults;
pub mod lab;
mod log;
pub mod machine;
mod mapping;
pub mod sample;
pub mod synthetic;
pub mod table;
pub mod telemetry;
pub mod zipf;

pub use error::DataError;
pub use log::Log;
