//! Rows that arrive by themselves: a sensor process that never waits, a queue of bounded length, a
//! writer that must keep up, and a search for the highest rate at which it does. A [`Sink`] defines
//! what a row is and stores it.

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

/// Role of the sensor's process.
pub(crate) const SENSOR: &str = "sensor";
