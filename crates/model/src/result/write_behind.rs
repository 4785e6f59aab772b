//! Rows that are accepted before they are committed, and what a crash would have lost of them.

use serde::{Deserialize, Serialize};

/// A run in which one thread accepted rows into a buffer while another one repeatedly committed its
/// contents. A row that is accepted but not committed is lost in a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteBehind {
    /// Rows per second that were offered.
    pub target_rate: f64,
    /// Rows per second that the buffer accepted, from the start to the last one accepted.
    pub accepted_rate: f64,
    /// Rows per second that were committed, from the start to the end of the last commit.
    pub committed_rate: f64,
    /// Number of commits.
    pub commits: u64,
    /// Largest number of rows that were accepted but not yet committed.
    pub loss_rows: u64,
    /// Longest time in ns from accepting a row to the end of its commit.
    pub loss_ns: u64,
}
