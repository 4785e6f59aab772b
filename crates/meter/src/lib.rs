//! The clock around a phase: elapsed time, sampled latencies, the time cap.
//!
//! A [`Meter`] measures one run of one phase. The elapsed time is one pair of clock reads around
//! the whole run ([`Meter::start`], [`Meter::stop`]). In between, [`Meter::each`] runs the
//! operations and times every k-th of them, with k chosen so that timing costs half a percent of
//! the loop. With an [`ArrivalSchedule`] it runs them in an open loop, at their times, and times
//! all. It allocates, formats or locks nothing per operation.

mod arrivals;
mod clients;
mod clock;
mod counter;
mod latency;
mod meter;
mod pacer;
mod progress;
pub mod statistics;
pub mod steady;
mod stopwatch;
mod timeline;

pub use arrivals::ArrivalSchedule;
pub use clock::{CLOCK_RATE, Clock};
pub use latency::{Histogram, merge, summary};
pub use meter::{ClockHook, Measured, Meter};
pub use pacer::Pacer;
pub use stopwatch::Stopwatch;
pub use timeline::{Kind, MOST_SLICES, Recorder};
