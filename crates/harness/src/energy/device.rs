//! The energy sources of a device: how they are found, and how power is read.

use std::path::Path;
use std::time::Duration;

use super::source::{EnergySources, Power};
use super::{hwmon, pmic, powercap};
use crate::system::System;

/// Finds all energy sources. Sources that measure only memory come last.
pub(crate) fn find(system: &System) -> EnergySources {
    let all = [powercap::find(system), hwmon::find(system), pmic::find(Path::new(pmic::PROGRAM))];
    let mut found = EnergySources::default();
    for EnergySources { sources, absent } in all {
        found.sources.extend(sources);
        found.absent.extend(absent);
    }
    found.sources.sort_by_key(|source| source.id == "dram");
    found
}

impl Power {
    /// Reads the current watts.
    pub fn watts(&self) -> Option<f64> {
        match self {
            Self::Hwmon(input) => input.watts(),
            Self::Pmic(program) => pmic::watts(program),
        }
    }

    /// Returns the sampling period. A file is sampled ten times per second. A program takes some
    /// milliseconds of CPU time and is sampled once.
    pub const fn period(&self) -> Duration {
        match self {
            Self::Hwmon(_) => Duration::from_millis(100),
            Self::Pmic(_) => Duration::from_secs(1),
        }
    }
}
