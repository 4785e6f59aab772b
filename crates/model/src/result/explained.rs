//! What a run requested of the operating system, counted in untimed trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a run of the explaining trials cost. A figure that could not be counted is absent, with the
/// reason in `not_explained`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explained {
    /// Operations of the run whose system calls were counted. It is another run than the one whose
    /// faults and switches were counted, and the longest run time may have stopped it earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced_ops: Option<u64>,
    /// Costs of the engine: the worker of an embedded one, all processes of a server.
    pub engine: OsCost,
    /// Costs of the client if it is another process than the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<OsCost>,
    /// Why something was not counted, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_explained: Vec<String>,
}

/// What processes requested of the system in one run. Absent means not counted, never zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OsCost {
    /// System calls of `traced_ops` operations. The other figures are for the run's own operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<SystemCalls>,
    /// Page faults without I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Page faults that waited for storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Context switches of threads that waited for something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voluntary_switches: Option<u64>,
    /// Context switches of threads that could have continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Instructions in user space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Misses of the last-level cache in user space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_misses: Option<u64>,
}

/// System calls of every thread that began inside the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SystemCalls {
    /// Number of calls by kind and name.
    pub by_kind: BTreeMap<CallKind, BTreeMap<String, u64>>,
    /// Bytes read from files, from the page cache or from storage.
    pub file_read_bytes: u64,
    /// Bytes written to files.
    pub file_written_bytes: u64,
    /// Writes that return only when the data is on storage: to a descriptor with `O_DSYNC` or
    /// `O_SYNC`.
    #[serde(skip_serializing_if = "is_zero")]
    pub synced_writes: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl SystemCalls {
    /// Returns the number of calls of a kind.
    pub fn count(&self, kind: CallKind) -> u64 {
        sum(self.by_kind.get(&kind).into_iter().flat_map(BTreeMap::values))
    }

    /// Returns the total number of calls.
    pub fn total(&self) -> u64 {
        sum(self.by_kind.values().flat_map(BTreeMap::values))
    }

    /// Adds the calls of another process.
    pub fn add(&mut self, other: &Self) {
        for (kind, names) in &other.by_kind {
            let own = self.by_kind.entry(*kind).or_default();
            for (name, count) in names {
                *own.entry(name.clone()).or_default() += count;
            }
        }
        self.file_read_bytes += other.file_read_bytes;
        self.file_written_bytes += other.file_written_bytes;
        self.synced_writes += other.synced_writes;
    }
}

fn sum<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.fold(0_u64, |sum, count| sum.saturating_add(*count))
}

/// Purpose of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// `read`, `pread64`, … of anything but a socket.
    Read,
    /// `write`, `pwrite64`, … to anything but a socket.
    Write,
    /// `fsync`, `fdatasync`, `msync`, `sync_file_range`, `syncfs`, `sync`.
    Flush,
    /// `mmap`, `munmap`, `madvise`, `brk`, …
    Memory,
    /// `futex`, `poll`, `epoll_wait`, sleeps: a thread waits, or wakes one that waits.
    Wait,
    /// `send`, `recv`, …, and `read` and `write` of a socket.
    Network,
    /// Any other call.
    Other,
}
