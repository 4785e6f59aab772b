//! The sources of energy of a device: how they are found, and how a power is read.

use std::path::Path;
use std::time::Duration;

use super::source::{Found, Power};
use super::{hwmon, pmic, powercap};
use crate::system::System;

/// Looks for all of them. Those of memory alone come last.
pub(crate) fn find(system: &System) -> Found {
    let all = [powercap::find(system), hwmon::find(system), pmic::find(Path::new(pmic::PROGRAM))];
    let mut found = Found::default();
    for Found { sources, absent } in all {
        found.sources.extend(sources);
        found.absent.extend(absent);
    }
    found.sources.sort_by_key(|source| source.id == "dram");
    found
}

impl Power {
    /// Watts now.
    pub fn watts(&self) -> Option<f64> {
        match self {
            Self::Hwmon(input) => input.watts(),
            Self::Pmic(program) => pmic::watts(program),
        }
    }

    /// How often it is sampled: a file ten times a second, a program, which takes some milliseconds of
    /// CPU time, once.
    pub const fn period(&self) -> Duration {
        match self {
            Self::Hwmon(_) => Duration::from_millis(100),
            Self::Pmic(_) => Duration::from_secs(1),
        }
    }
}
