//! What a run inserted, what that came to on disk, and the maintenance after it.

use serde::{Deserialize, Serialize};

use super::{DeviceIo, DiskSize, Resources, Run};

/// Of a run that inserts rows. What could not be measured is absent, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Bytes of the rows' values at the width of their types, keys included: `docs/method.md`.
    pub user_bytes: u64,
    /// What reached the trial's own disk until all that the run wrote was there, where it had one.
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
    /// Operations per second, if any time passed.
    pub fn ops_per_second(&self) -> Option<f64> {
        (self.elapsed_ns > 0).then(|| self.ops as f64 * 1e9 / self.elapsed_ns as f64)
    }

    /// The maintenance after it.
    pub fn maintenance(&self) -> Option<&Maintenance> {
        self.loaded.as_ref()?.maintenance.as_ref()
    }

    /// Bytes that the engine sent to storage while the rows counted in
    /// [`user_bytes`](Loaded::user_bytes) came in: in the whole run, or in the window of one that
    /// lasts by the clock.
    pub fn written_bytes(&self) -> Option<u64> {
        match &self.observed {
            Some(seen) => {
                let engine = seen.processes.get("server").or_else(|| seen.processes.get("writer"));
                engine?.written_bytes
            }
            None => self.engine.written_bytes,
        }
    }

    /// Bytes that the engine sent to storage for each byte of user data: write amplification, as
    /// the engine's processes see it.
    pub fn write_amplification(&self) -> Option<f64> {
        self.loaded?.amplified(self.written_bytes()?)
    }

    /// The same with what maintenance wrote: the background work that a load causes is part of its
    /// cost. Absent for a run with a window, outside which maintenance also writes.
    pub fn amplification_with_maintenance(&self) -> Option<f64> {
        let maintenance = self.maintenance().filter(|_| self.observed.is_none())?;
        let written = self.written_bytes()?.checked_add(maintenance.engine.written_bytes?)?;
        self.loaded?.amplified(written)
    }

    /// Bytes that reached the trial's own disk for each byte of user data, maintenance included
    /// where there was any. Absent without such a disk, and for a run with a window.
    pub fn device_amplification(&self) -> Option<f64> {
        let loaded = self.loaded.filter(|_| self.observed.is_none())?;
        let maintenance = match loaded.maintenance {
            Some(maintenance) => maintenance.device_io?.written_bytes,
            None => 0,
        };
        loaded.amplified(loaded.device_io?.written_bytes.checked_add(maintenance)?)
    }
}

impl Loaded {
    fn amplified(&self, written: u64) -> Option<f64> {
        (self.user_bytes > 0).then(|| written as f64 / self.user_bytes as f64)
    }
}

#[cfg(test)]
mod tests;
