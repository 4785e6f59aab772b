//! Measurements of several clients of one run, each with its own meter.

use embermark_model::result::ClientRun;

use crate::latency::Histogram;
use crate::progress::Progress;

/// Measurements of the clients of a run.
#[derive(Debug, Default)]
pub(crate) struct MergedClients {
    pub clients: Vec<ClientRun>,
    pub response: Option<Histogram>,
    pub late: Option<Histogram>,
    /// Shares of their rate that they achieved.
    pub achieved: Vec<f64>,
    /// Their progress over time, if it was recorded.
    pub tracks: Vec<Track>,
}

/// Progress of one client over time.
#[derive(Debug)]
pub(crate) struct Track {
    pub progress: Progress,
    /// Ticks of its start and its end.
    pub between: (u64, u64),
    pub ops: u64,
}
