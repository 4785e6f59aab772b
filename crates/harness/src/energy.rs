//! Energy of runs, from what the device has to measure it with.
//!
//! Counters of energy are read by the worker right before a run and right after it, powers are sampled by
//! the parent while it waits for the worker; neither happens inside the worker's clock. Where there is
//! a source, the idle draw is measured before the first trial.

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
