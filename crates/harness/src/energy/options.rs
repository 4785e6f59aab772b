//! How energy is measured.

use std::path::PathBuf;
use std::time::Duration;

use super::{Sampler, find};
use crate::system::System;

/// How energy is measured.
#[derive(Clone, Debug)]
pub struct EnergyOptions {
    /// The tree whose `sys` is looked into for sources of energy and counters of wear: that of this
    /// machine, or a made-up one.
    pub root: PathBuf,
    /// How long the idle draw is measured before the first trial.
    pub idle: Duration,
    /// Makes the load pattern before the first trial and after the last one by which the clock of an
    /// external meter is known, and measures no less than the idle time without any source.
    pub metered: bool,
    /// How long each of the parts of that pattern lasts: longer than the meter takes for a line.
    pub slot: Duration,
}

impl EnergyOptions {
    /// What measures energy here.
    pub(crate) fn sampler(&self) -> Sampler {
        Sampler::of(find(&System::at(&self.root)))
    }
}

impl Default for EnergyOptions {
    fn default() -> Self {
        let (idle, slot) = (Duration::from_secs(10), Duration::from_secs(2));
        Self { root: PathBuf::from("/"), idle, metered: false, slot }
    }
}
