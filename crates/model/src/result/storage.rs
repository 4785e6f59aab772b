//! How well an imitated storage kept its times.

use serde::{Deserialize, Serialize};

use crate::Storage;

/// What the path to an imitated storage costs on a machine, in ns. The time that the model gives a request includes it,
/// so a medium that is faster cannot be imitated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoragePath {
    /// Of a read of 4 KiB.
    pub read_ns: u64,
    /// Of a write of 4 KiB.
    pub write_ns: u64,
    /// Of a flush.
    pub flush_ns: u64,
    /// Of each KiB of a read or write beyond 4.
    pub kib_ns: u64,
}

impl StoragePath {
    /// The largest share of a durable write that the path may cost without a warning.
    pub const MOST_SHARE: f64 = 0.1;

    /// Returns what the path costs a write of 4 KiB and its flush, over the time that they take on a storage. What is
    /// subtracted from a request is the path's usual cost, and each request of a commit can exceed it by about as
    /// much: so commits may take longer than on the medium by up to this share. `None` for a hard disk.
    pub fn share(&self, storage: &Storage) -> Option<f64> {
        let own = storage.durable_write_ns()?.max(1);
        Some((self.write_ns + self.flush_ns) as f64 / own as f64)
    }
}

/// How well a storage kept the times of its model in one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageTimes {
    /// Reads, writes and flushes that it answered.
    pub requests: u64,
    /// Those that it answered too late: by more than 50 µs and by more than a twentieth of their time.
    pub late: u64,
    /// How much too late the latest was, in ns.
    pub latest_ns: u64,
    /// The sum of the times that the model gave, in ns.
    pub time_ns: u64,
    /// The sum of how much too late each was, in ns.
    pub late_ns: u64,
    /// Bytes that its translation layer programmed into flash, the work's own and its own copies; absent without flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programmed_bytes: Option<u64>,
    /// Blocks that it erased; absent without flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<u64>,
}

impl StorageTimes {
    /// The largest share of late requests with which the times count as kept.
    pub const MOST_LATE: f64 = 0.05;

    /// The share of the requests that were late.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.requests.max(1) as f64
    }

    /// Whether so many were late that figures measured with it are not the model's.
    pub fn is_broken(&self) -> bool {
        self.late_share() > Self::MOST_LATE
    }
}
