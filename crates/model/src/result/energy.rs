//! Energy of runs, and what measured it.

use serde::{Deserialize, Serialize};

/// Energy of a run, by one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Which one: [`EnergySource::id`].
    pub source: String,
    /// All that it counted from the beginning of the run to its end, in joules.
    pub joules: f64,
    /// The same less what the idle machine takes in that time; absent where nobody knows. Below 0 where
    /// the run took less than the idle machine did before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_idle_joules: Option<f64>,
    /// By how much that may be off, because the idle draw is not constant: its standard deviation over the
    /// time of the run. What is below it is not told apart from nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_error_joules: Option<f64>,
}

impl Energy {
    /// Of `joules` in so many seconds, by a source of known idle draw or not.
    pub fn of(source: &EnergySource, joules: f64, seconds: f64) -> Self {
        let times = |watts: Option<f64>| watts.map(|watts| watts * seconds);
        Self {
            source: source.id.clone(),
            joules,
            over_idle_joules: times(source.idle_watts).map(|idle| joules - idle),
            idle_error_joules: times(source.idle_spread_watts),
        }
    }

    /// Joules over the idle draw of one of so many operations.
    pub fn over_idle_per_operation(&self, ops: u64) -> Option<f64> {
        let joules = self.over_idle_joules?;
        (ops > 0).then(|| joules / ops as f64)
    }
}

/// A time of the run by the machine's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// When it began, RFC 3339, UTC.
    pub began: String,
    /// How long it lasted in ns.
    pub lasted_ns: u64,
}

/// What measured the energy of a run's phases, and the draw of the idle machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergyMeasurement {
    /// The sources. The first one is that of the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<EnergySource>,
    /// Why others, or all, are not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
    /// When nothing ran, before the first trial: the idle draw is of that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Period>,
    /// When the load pattern was made by which the clock of an external meter is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Period>,
}

/// Something that measures energy or power.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnergySource {
    /// A name that no other source of the run has: `package`, `pmic`, `meter`.
    pub id: String,
    /// What it measures, and what is not in it.
    pub about: String,
    /// Mean draw of the idle machine in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_watts: Option<f64>,
    /// Standard deviation of that draw in watts: of a counter over tenths of the time, else over samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_spread_watts: Option<f64>,
    /// Of a power: how often it was read, in ns. Absent of a counter, which is read at the beginning and the
    /// end of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_every_ns: Option<u64>,
    /// How long one reading took, mean of those in the idle time, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading_ns: Option<u64>,
    /// Of an external meter: how its clock was put beside the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned: Option<String>,
}
