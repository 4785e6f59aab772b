//! What several clients of one run measured, each with a meter of its own.

use embermark_model::result::ClientRun;

use crate::latency::Histogram;

/// What the clients of a run measured.
#[derive(Debug, Default)]
pub(crate) struct MergedClients {
    pub clients: Vec<ClientRun>,
    pub response: Option<Histogram>,
    pub late: Option<Histogram>,
    /// The shares of their rate that they achieved.
    pub achieved: Vec<f64>,
}
