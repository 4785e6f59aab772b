//! Measures the energy of runs with the energy sources of the device.
//!
//! The worker reads energy counters right before and right after a run. The parent samples power
//! while it waits for the worker. Neither happens inside the worker's clock. If there is a source,
//! the idle draw is measured before the first trial.

mod counter;
mod curve;
mod device;
mod hwmon;
mod idle;
pub(crate) mod marker;
pub mod meter;
mod options;
mod pmic;
mod powercap;
mod sampler;
mod source;
mod spread;
mod wall_clock;

pub(crate) use counter::{Counter, Readings, Window};
pub(crate) use device::find;
pub use options::EnergyOptions;
pub(crate) use sampler::Sampler;
