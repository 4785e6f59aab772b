//! What several clients of one run measured, each with a meter of its own.

use embermark_model::result::ClientRun;

use crate::latency::Histogram;
use crate::progress::Progress;

/// What the clients of a run measured.
#[derive(Debug, Default)]
pub(crate) struct MergedClients {
    pub clients: Vec<ClientRun>,
    pub response: Option<Histogram>,
    pub late: Option<Histogram>,
    /// The shares of their rate that they achieved.
    pub achieved: Vec<f64>,
    /// How far each was when, where that was noted.
    pub tracks: Vec<Track>,
}

/// How far one client was when.
#[derive(Debug)]
pub(crate) struct Track {
    pub progress: Progress,
    /// Ticks of its start and its end.
    pub between: (u64, u64),
    pub ops: u64,
}
