//! The types of energy sources.

use std::path::PathBuf;

use super::counter::{Counter, Zone};

/// A source of energy or power readings.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub id: String,
    pub about: String,
    pub kind: Kind,
}

/// How it is read.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// By energy counters, which are added up.
    Counter(Vec<Zone>),
    /// By sampling a power.
    Power(Power),
}

/// Origin of a power.
#[derive(Clone, Debug)]
pub(crate) enum Power {
    Hwmon(Input),
    /// From this program.
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
    /// Returns the counter that a worker reads, if the source has one.
    pub fn counter(&self) -> Option<Counter> {
        match &self.kind {
            Kind::Counter(zones) => Some(Counter { source: self.id.clone(), zones: zones.clone() }),
            Kind::Power(_) => None,
        }
    }
}

/// The sources of a device, best first, and why others are missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergySources {
    pub sources: Vec<Source>,
    pub absent: Vec<String>,
}
