//! The phases.

use crate::PhaseInfo;

/// A phase of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Insert,
    InsertBuffered,
    Gps,
    Co2,
    Logs,
    OpenLog,
    Open,
}

/// Rows in a batch of [`Phase::InsertBuffered`].
pub(super) const BATCH: usize = 1_000;

impl Phase {
    /// In the order in which they run, which is that of [`PHASES`].
    pub(super) const ALL: [Self; 7] = [
        Self::Insert,
        Self::InsertBuffered,
        Self::Gps,
        Self::Co2,
        Self::Logs,
        Self::OpenLog,
        Self::Open,
    ];

    /// Whether it is a question, asked again and again.
    pub(super) const fn is_question(self) -> bool {
        matches!(self, Self::Gps | Self::Co2 | Self::Logs)
    }
}

const fn phase(name: &'static str, about: &'static str) -> PhaseInfo {
    PhaseInfo { name, about }
}

pub(super) static PHASES: [PhaseInfo; 7] = [
    phase("insert", "rows in as they come, one commit a row"),
    phase(
        "insert_buffered",
        "rows collected and committed 1,000 at a time, by the same thread: the last 1,000 are what \
         a crash may lose",
    ),
    phase("gps", "the points in 6-10 degrees east, 45-50 north; requests in a closed loop"),
    phase("co2", "mean carbon dioxide by month; requests in a closed loop"),
    phase(
        "logs",
        "errors of the year's last 90 days by endpoint, counted, in order of the count; requests in \
         a closed loop",
    ),
    phase(
        "open_log",
        "opens the database as a crash left it after batches of inserts, no checkpoint taken, and \
         reads a row",
    ),
    phase("open", "opens it again after a checkpoint and a clean end, and reads a row"),
];
