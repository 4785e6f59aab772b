//! The energy sources of a device, and how power is read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::counter::Zone;
use super::pmic;
use crate::system::read;

/// A source of energy or power readings.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub id: String,
    pub about: String,
    pub kind: Kind,
}

impl Source {
    /// Returns the power chip of a Raspberry Pi 5, if the program reads it, or why it does not.
    pub fn pmic(program: &Path) -> Result<Self, String> {
        pmic::watts(program)?;
        let about =
            "rails of the Raspberry Pi's power chip (vcgencmd pmic_read_adc); its 5 V rails, and \
             so USB devices and what the header supplies, are not in it"
                .to_owned();
        let kind = Kind::Power(Power::Pmic(program.to_owned()));
        Ok(Self { id: "pmic".to_owned(), about, kind })
    }
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
    /// A file of hwmon, in microwatts.
    Input(PathBuf),
    /// Two files of hwmon, in milliamperes and millivolts.
    Product(PathBuf, PathBuf),
    /// The program of a Raspberry Pi's firmware.
    Pmic(PathBuf),
}

impl Power {
    /// Reads the current watts. `None` if they cannot be read.
    pub fn watts(&self) -> Option<f64> {
        let number = |path: &Path| read(path)?.parse::<f64>().ok();
        match self {
            Self::Input(path) => Some(number(path)? / 1e6),
            Self::Product(current, voltage) => Some(number(current)? * number(voltage)? / 1e6),
            Self::Pmic(program) => pmic::watts(program).ok(),
        }
    }

    /// Returns the sampling period. A file is sampled ten times per second. A program takes some
    /// milliseconds of CPU time and is sampled once.
    pub const fn period(&self) -> Duration {
        match self {
            Self::Input(_) | Self::Product(..) => Duration::from_millis(100),
            Self::Pmic(_) => Duration::from_secs(1),
        }
    }
}

/// The sources of a device, best first, and why others are missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergySources {
    pub sources: Vec<Source>,
    pub absent: Vec<String>,
}
