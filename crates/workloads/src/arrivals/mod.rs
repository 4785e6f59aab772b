//! Rows that arrive by themselves: a sensor process that waits for nobody, a queue of bounded length, a writer that has
//! to keep up, and the search for the highest rate at which it does. What a row is, and who stores it, a [`Sink`] says.

mod clock;
mod highest;
mod process;
mod queue;
mod sensor;
mod window;
mod writer;
mod written;

pub(crate) use clock::Stamper;
pub use highest::{CONFIRMATIONS, FASTEST};
pub(crate) use highest::{FIRST, Length, highest};
pub(crate) use process::Sensor;
pub(crate) use queue::Shape;
#[cfg(test)]
pub(crate) use queue::tests::queued;
pub(crate) use sensor::{Task, run as run_sensor};
pub(crate) use window::Window;
pub(crate) use writer::{Aside, Nothing, Sink, Writer};
#[cfg(test)]
pub(crate) use written::tests::written;
pub(crate) use written::{Tally, Written};

/// The role of the process that a sensor is.
pub(crate) const SENSOR: &str = "sensor";
