//! How well an imitated storage kept its times.

use serde::{Deserialize, Serialize};

use crate::Storage;

/// What the path to an imitated storage costs on a machine, in ns. The time that the model gives a
/// request includes it, so a faster medium cannot be imitated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoragePath {
    /// Cost of a read of 4 KiB.
    pub read_ns: u64,
    /// Cost of a write of 4 KiB.
    pub write_ns: u64,
    /// Cost of a flush.
    pub flush_ns: u64,
    /// Cost of each KiB of a read or write beyond 4.
    pub kib_ns: u64,
}

impl StoragePath {
    /// Largest share of a durable write that the path may cost without a warning.
    pub const MOST_SHARE: f64 = 0.1;

    /// Returns the path's cost for a write of 4 KiB and its flush, as a share of the time that they
    /// take on a storage. The path's usual cost is subtracted from each request, and a request can
    /// exceed it by about as much. Commits may thus take longer than on the medium by up to this
    /// share. `None` for a hard disk.
    pub fn share(&self, storage: &Storage) -> Option<f64> {
        let own = storage.durable_write_ns()?.max(1);
        Some((self.write_ns + self.flush_ns) as f64 / own as f64)
    }
}

/// How well a storage kept the times of its model in one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageTimes {
    /// Number of requests that it answered: reads, writes, flushes and discards.
    pub requests: u64,
    /// Number of these that it answered too late: by more than 50 µs and by more than a twentieth
    /// of their time.
    pub late: u64,
    /// Delay of the latest answer in ns.
    pub latest_ns: u64,
    /// Sum of the times that the model gave in ns.
    pub time_ns: u64,
    /// Sum of the delays in ns.
    pub late_ns: u64,
    /// Bytes that its translation layer programmed into flash, for the work and for its own copies.
    /// Absent without flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programmed_bytes: Option<u64>,
    /// Number of blocks that it erased. Absent without flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<u64>,
}

impl StorageTimes {
    /// Largest share of late requests with which the times count as kept.
    pub const MOST_LATE: f64 = 0.05;

    /// Returns the share of late requests.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.requests.max(1) as f64
    }

    /// Whether too many requests were late for figures measured with it to be the model's.
    pub fn is_broken(&self) -> bool {
        self.late_share() > Self::MOST_LATE
    }
}
