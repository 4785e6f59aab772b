//! The steps of the workload.

use crate::PhaseInfo;

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Load,
    Read,
    LastReadings,
    Update,
    Delete,
    AvgSensor,
    HotSensors,
    Anomalies,
    DailySummary,
    Outages,
    TopkSensors,
    CompareTwo,
    FullProfile,
}

/// In the order of the document, and of [`Phase`].
pub(super) static PHASES: [PhaseInfo; 13] = [
    PhaseInfo { name: "load", about: "puts N rows in" },
    PhaseInfo { name: "read", about: "reads N random keys, every 64th of them absent" },
    PhaseInfo { name: "last_readings", about: "finds the newest reading of S sensors" },
    PhaseInfo { name: "update", about: "sets the temperature of N/2 random readings" },
    PhaseInfo { name: "delete", about: "deletes N/10 random readings" },
    PhaseInfo { name: "avg_sensor", about: "mean temperature per sensor" },
    PhaseInfo { name: "hot_sensors", about: "the sensors with a mean above 25 °C, hottest first" },
    PhaseInfo { name: "anomalies", about: "readings over 2 deviations from their sensor's mean" },
    PhaseInfo { name: "daily_summary", about: "min, max, mean and count per sensor and day" },
    PhaseInfo { name: "outages", about: "gaps over an hour between readings of a sensor" },
    PhaseInfo { name: "topk_sensors", about: "10 sensors with most readings, and the 10 hottest" },
    PhaseInfo { name: "compare_two", about: "correlates the two sensors with most readings" },
    PhaseInfo { name: "full_profile", about: "avg_sensor, daily_summary, outages, topk_sensors" },
];

impl Phase {
    /// In the order in which they run: what changes the rows comes last, so that everything
    /// before it meets them as they were loaded.
    pub(super) const RUN_ORDER: [Self; 13] = [
        Self::Load,
        Self::Read,
        Self::LastReadings,
        Self::AvgSensor,
        Self::HotSensors,
        Self::Anomalies,
        Self::DailySummary,
        Self::Outages,
        Self::TopkSensors,
        Self::CompareTwo,
        Self::FullProfile,
        Self::Update,
        Self::Delete,
    ];

    /// Its name in results.
    pub(super) fn name(self) -> &'static str {
        PHASES[self as usize].name
    }

    /// The questions it is made of, in sequence.
    pub(super) const fn parts(&self) -> &[Self] {
        match self {
            Self::FullProfile => {
                &[Self::AvgSensor, Self::DailySummary, Self::Outages, Self::TopkSensors]
            }
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it is one question over many rows, and not many operations on one row each.
    pub(super) const fn is_question(self) -> bool {
        !matches!(self, Self::Load | Self::Read | Self::LastReadings | Self::Update | Self::Delete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_runs_once_and_has_its_own_name() {
        let mut names: Vec<_> = Phase::RUN_ORDER.into_iter().map(Phase::name).collect();
        assert_eq!(names[0], "load");
        assert_eq!(Phase::FullProfile.name(), "full_profile");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PHASES.len());
    }
}
