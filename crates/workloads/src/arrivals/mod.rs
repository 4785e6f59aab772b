//! Rows that a sensor produces at a rate: a sensor process that never waits, a queue of bounded length, a
//! writer that must keep up, and a search for the highest rate at which it does. A [`Sink`] defines
//! what a row is and stores it.

mod clock;
mod highest;
mod process;
mod queue;
mod sensor;
mod tally;
mod window;
mod writer;

pub(crate) use clock::Stamper;
pub use highest::{CONFIRMATIONS, FASTEST};
pub(crate) use highest::{FIRST, Length, highest};
pub(crate) use process::Sensor;
pub(crate) use queue::Shape;
#[cfg(test)]
pub(crate) use queue::tests::queued;
pub(crate) use sensor::{Task, run as run_sensor};
#[cfg(test)]
pub(crate) use tally::tests::written;
pub(crate) use tally::{Tally, WriteOutcome};
pub(crate) use window::Window;
pub(crate) use writer::{InterleavedTask, NoTask, Sink, Writer};

/// Role of the sensor's process.
pub(crate) const SENSOR: &str = "sensor";
