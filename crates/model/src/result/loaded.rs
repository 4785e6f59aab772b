//! What a run inserted, what that came to on disk, and the maintenance after it.

use serde::{Deserialize, Serialize};

use super::{DeviceIo, DiskSize, Resources, Run};

/// Of a run that inserts rows. What could not be measured is absent, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Bytes of the rows' values at the width of their types, keys included: `docs/method.md`.
    pub user_bytes: u64,
    /// What [`Run::device_io`] is now, in files that say it here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// The maintenance after it; of the last run of a phase, where the engine can be told to.
    #[serde(default, alias = "settling", skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
}

/// The engine's checkpoint or compaction right after a run, until its background work has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maintenance {
    /// How long it took in ns.
    pub elapsed_ns: u64,
    /// What the engine's processes used for it.
    #[serde(default)]
    pub engine: Resources,
    /// Size of the data directory before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_before: Option<DiskSize>,
    /// Size of the data directory after, the engine still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_after: Option<DiskSize>,
    /// What it brought to the trial's own disk, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
}

impl Run {
    /// Operations per second, if any time passed: of clients on several machines those of the time in which
    /// all were at work.
    pub fn ops_per_second(&self) -> Option<f64> {
        let (ops, ns) = self.at_work();
        (ns > 0).then(|| ops as f64 * 1e9 / ns as f64)
    }

    /// The maintenance after it.
    pub fn maintenance(&self) -> Option<&Maintenance> {
        self.loaded.as_ref()?.maintenance.as_ref()
    }

    /// Bytes that reached the trial's own disk for each byte of user data: write amplification. Absent
    /// without such a disk.
    pub fn write_amplification(&self) -> Option<f64> {
        self.amplified(self.device_io?.written_bytes)
    }

    /// The same with what maintenance brought there: the background work that a load causes is part of
    /// its cost. Absent for a run with a window, outside which maintenance also writes.
    pub fn amplification_with_maintenance(&self) -> Option<f64> {
        let maintenance = self.maintenance().filter(|_| self.observed.is_none())?;
        let written = self.device_io?.written_bytes;
        self.amplified(written.checked_add(maintenance.device_io?.written_bytes)?)
    }

    fn amplified(&self, written: u64) -> Option<f64> {
        let user_bytes = self.loaded?.user_bytes;
        (user_bytes > 0).then(|| written as f64 / user_bytes as f64)
    }
}

#[cfg(test)]
mod tests;
