//! How energy is measured.

use std::path::PathBuf;
use std::time::Duration;

use super::{Sampler, find};
use crate::system::System;

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
