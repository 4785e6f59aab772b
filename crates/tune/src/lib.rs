//! Finds the settings of an engine that are fastest for a work and keep its tier, by measuring.
//!
//! [`search`] begins with the current settings and tries the candidates that the engine's adapter
//! names. Each is measured in turns with the current settings, and half of them are dropped after
//! every round (successive halving: K. Jamieson and A. Talwalkar, AISTATS 2016). The best is taken,
//! and then what improves on it (coordinate descent), as long as it [keeps the
//! tier](Bench::keeps_tier).
//! The winner is measured again next to the current settings, in trials that the search did not
//! use. Otherwise the best of many equal candidates would look better than it is.

mod columns;
mod harness_bench;
mod search;

pub use columns::{ColumnResult, Columns};
pub use harness_bench::{HarnessBench, MeasureError, Screening, Subject};
pub use search::{Bench, TooShort, search};
