//! The phases.

use crate::PhaseInfo;

/// A phase of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Insert,
    InsertBuffered,
    InsertOffthread,
    InsertHttp,
    Gps,
    Co2,
    Logs,
    OpenLog,
    OpenLargeLog,
    Open,
}

/// Rows in a batch of [`Phase::InsertBuffered`].
pub(super) const BATCH: usize = 1_000;

impl Phase {
    /// In the order in which they run, which is that of [`PHASES`].
    pub(super) const ALL: [Self; 10] = [
        Self::Insert,
        Self::InsertBuffered,
        Self::InsertOffthread,
        Self::InsertHttp,
        Self::Gps,
        Self::Co2,
        Self::Logs,
        Self::OpenLog,
        Self::OpenLargeLog,
        Self::Open,
    ];

    /// Its name in results.
    pub(super) fn name(self) -> &'static str {
        PHASES[self as usize].name
    }

    /// Whether rows go in.
    pub(super) const fn inserts(self) -> bool {
        matches!(
            self,
            Self::Insert | Self::InsertBuffered | Self::InsertOffthread | Self::InsertHttp
        )
    }

    /// Whether each row goes in as a commit of its own.
    pub(super) const fn commits_each(self) -> bool {
        matches!(self, Self::Insert | Self::InsertHttp)
    }

    /// Whether a database is opened.
    pub(super) const fn opens(self) -> bool {
        matches!(self, Self::OpenLog | Self::OpenLargeLog | Self::Open)
    }

    /// Whether it is a question, asked again and again.
    pub(super) const fn is_question(self) -> bool {
        matches!(self, Self::Gps | Self::Co2 | Self::Logs)
    }
}

const fn phase(name: &'static str, about: &'static str) -> PhaseInfo {
    PhaseInfo { name, about }
}

/// Those that run in a variant of their own, and in no other.
pub(super) const APART: &[&str] = &["insert_offthread", "insert_http", "open_large_log"];

pub(super) static PHASES: [PhaseInfo; 10] = [
    phase("insert", "rows in as they come, one commit a row"),
    phase(
        "insert_buffered",
        "rows collected and committed 1,000 at a time, by the same thread: the last 1,000 are what \
         a crash may lose",
    ),
    phase(
        "insert_offthread",
        "rows accepted into a buffer by one thread, 100,000 a second, while another commits what has \
         gathered: what a crash would lose is shown beside it",
    ),
    phase(
        "insert_http",
        "rows posted one by one as JSON over HTTP by another process, ten requests in flight, each \
         answered after its row was committed",
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
    phase(
        "open_large_log",
        "the same with a log that holds every row, no checkpoint taken since the first: its size is \
         shown beside it",
    ),
    phase("open", "opens it again after a checkpoint and a clean end, and reads a row"),
];
