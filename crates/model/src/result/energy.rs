//! Energy of runs, and what measured it.

use serde::{Deserialize, Serialize};

/// Energy of a run by one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// [`EnergySource::id`] of the source.
    pub source: String,
    /// All energy that it counted from the beginning of the run to its end, in joules.
    pub joules: f64,
    /// The same minus what the idle machine draws in that time. Absent if that is unknown. Negative
    /// if the run took less than the idle machine did before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_idle_joules: Option<f64>,
    /// Possible error of this because the idle draw varies: its standard deviation over the time of
    /// the run. A value below it cannot be told from zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_error_joules: Option<f64>,
}

impl Energy {
    /// Makes the energy of `joules` over `seconds`, from a source whose idle draw may be known.
    pub fn new(source: &EnergySource, joules: f64, seconds: f64) -> Self {
        let times = |watts: Option<f64>| watts.map(|watts| watts * seconds);
        Self {
            source: source.id.clone(),
            joules,
            over_idle_joules: times(source.idle_watts).map(|idle| joules - idle),
            idle_error_joules: times(source.idle_spread_watts),
        }
    }

    /// Returns the joules over idle per operation.
    pub fn over_idle_per_operation(&self, ops: u64) -> Option<f64> {
        let joules = self.over_idle_joules?;
        (ops > 0).then(|| joules / ops as f64)
    }
}

/// A period of the run by the machine's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// When it began, RFC 3339, UTC.
    pub began: String,
    /// Duration in ns.
    pub lasted_ns: u64,
}

/// What measured the energy of a run's phases, and the draw of the idle machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyMeasurement {
    /// The sources. The first one gives the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<EnergySource>,
    /// Why other sources, or all, are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// The idle time before the first trial, in which the idle draw was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Period>,
    /// When the load patterns ran that align the clock of an external meter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Period>,
}

/// A device that measures energy or power.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergySource {
    /// Name that is unique in the run: `package`, `pmic`, `meter`.
    pub id: String,
    /// What it measures, and what it leaves out.
    pub about: String,
    /// Mean draw of the idle machine in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_watts: Option<f64>,
    /// Standard deviation of that draw in watts: for a counter over tenths of the time, otherwise
    /// over samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_spread_watts: Option<f64>,
    /// Interval between readings of a power in ns. Absent for a counter, which is read at the
    /// beginning and the end of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_every_ns: Option<u64>,
    /// Duration of one reading, mean over the idle time, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading_ns: Option<u64>,
    /// How the clock of an external meter was aligned with the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned: Option<String>,
}
