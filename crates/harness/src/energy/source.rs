//! The sources of energy of a device.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::counter::{Counter, Zone};
use super::hwmon::Input;
use super::{hwmon, pmic, powercap};
use crate::machine::System;

/// Something that measures energy or power.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub id: String,
    pub about: String,
    pub kind: Kind,
}

/// How it is read.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// By counters of energy, which are added up.
    Counter(Vec<Zone>),
    /// By a power, sampled.
    Power(Power),
}

/// Where a power comes from.
#[derive(Clone, Debug)]
pub(crate) enum Power {
    Hwmon(Input),
    /// From that program.
    Pmic(PathBuf),
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

impl Source {
    /// What a worker has to read of it, if anything.
    pub fn counter(&self) -> Option<Counter> {
        match &self.kind {
            Kind::Counter(zones) => Some(Counter { source: self.id.clone(), zones: zones.clone() }),
            Kind::Power(_) => None,
        }
    }
}

/// The sources of a device, the best first, and why others are not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub sources: Vec<Source>,
    pub absent: Vec<String>,
}

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
