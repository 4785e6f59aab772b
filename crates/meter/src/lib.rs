//! The clock around a phase: elapsed time, sampled latencies, the time cap.
//!
//! A [`Meter`] measures one run of one phase. The elapsed time is one pair of clock reads around
//! the whole of it ([`Meter::start`], [`Meter::stop`]); in between, [`Meter::each`] runs the
//! operations and times every k-th of them, with k chosen so that timing costs half a percent of the
//! loop. Nothing is allocated, formatted or locked per operation.

mod clock;
mod latency;
mod meter;
mod stopwatch;

pub use clock::Clock;
pub use latency::{Histogram, merge, summary};
pub use meter::{Measured, Meter};
pub use stopwatch::Stopwatch;
