//! What a source of energy is.

use std::path::PathBuf;

use super::counter::{Counter, Zone};

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

/// The files of a power input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Microwatts.
    Power(PathBuf),
    /// Milliamperes and millivolts.
    Product(PathBuf, PathBuf),
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
