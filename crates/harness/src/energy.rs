//! Measures the energy of runs with the energy sources of the device.
//!
//! The worker reads energy counters right before and right after a run. The parent samples power
//! while it waits for the worker. Neither happens inside the worker's clock. If there is a source,
//! the idle draw is measured before the first trial.

mod counter;
mod curve;
mod hwmon;
mod idle;
pub(crate) mod marker;
pub mod meter;
mod pmic;
mod powercap;
mod sampler;
mod source;

use std::path::{Path, PathBuf};
use std::time::Duration;

use embermark_meter::statistics::mean;

use crate::system::System;

pub(crate) use counter::{Counter, Readings, Window};
pub(crate) use sampler::Sampler;
use source::{EnergySources, Source};

/// How energy is measured.
#[derive(Clone, Debug)]
pub struct EnergyOptions {
    /// Root of the tree whose `sys` is searched for energy sources, wear counters and what slows
    /// the CPU down during the trials: this machine's, or a simulated one.
    pub root: PathBuf,
    /// Duration of the idle measurement before the first trial.
    pub idle: Duration,
    /// Whether to run the load pattern that reveals an external meter's clock, before the first
    /// trial and after the last one. The idle time is then kept even without any source.
    pub metered: bool,
    /// Duration of each part of that pattern: longer than the meter takes for a line.
    pub slot: Duration,
}

impl EnergyOptions {
    /// Makes a sampler of the energy sources below `root`.
    pub(crate) fn sampler(&self) -> Sampler {
        Sampler::new(find(&System::at(&self.root)))
    }
}

impl Default for EnergyOptions {
    fn default() -> Self {
        let (idle, slot) = (Duration::from_secs(10), Duration::from_secs(2));
        Self { root: PathBuf::from("/"), idle, metered: false, slot }
    }
}

/// Finds all energy sources. Sources that measure only memory come last.
pub(crate) fn find(system: &System) -> EnergySources {
    let mut found = EnergySources::default();
    for EnergySources { sources, absent } in [powercap::find(system), hwmon::find(system)] {
        found.sources.extend(sources);
        found.absent.extend(absent);
    }
    match Source::pmic(Path::new(pmic::PROGRAM)) {
        Ok(source) => found.sources.push(source),
        Err(why) => found.absent.push(why),
    }
    found.sources.sort_by_key(|source| source.id == "dram");
    found
}

/// Returns the sample standard deviation. `None` for fewer than two numbers.
fn spread(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}
