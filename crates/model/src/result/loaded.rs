//! What a run inserted, and the maintenance after it.

use serde::{Deserialize, Serialize};

use super::{DeviceIo, DiskSize, Resources, Run};

/// Figures of a run that inserts or deletes rows. What could not be measured is absent, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Bytes of the values of the inserted rows, at the width of their types, keys included:
    /// `docs/resources.md`. 0 if rows were deleted.
    pub user_bytes: u64,
    /// The value of [`Run::device_io`] in older files, which have it here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
    /// The maintenance after the last run of a phase, if the engine offers any.
    #[serde(default, alias = "settling", skip_serializing_if = "Option::is_none")]
    pub maintenance: Option<Maintenance>,
}

/// The engine's checkpoint or compaction right after a run, until its background work has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maintenance {
    /// Duration in ns.
    pub elapsed_ns: u64,
    /// Resources that the engine's processes used for it.
    #[serde(default)]
    pub engine: Resources,
    /// Size of the data directory before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_before: Option<DiskSize>,
    /// Size of the data directory after, the engine still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_after: Option<DiskSize>,
    /// What it wrote to the trial's own disk, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_io: Option<DeviceIo>,
}

impl Run {
    /// Returns operations per second, if any time passed. For clients on several machines these are
    /// of the time in which all were working.
    pub fn ops_per_second(&self) -> Option<f64> {
        let (ops, ns) = self.at_work();
        (ns > 0).then(|| ops as f64 * 1e9 / ns as f64)
    }

    /// Returns the maintenance after the run.
    pub fn maintenance(&self) -> Option<&Maintenance> {
        self.loaded.as_ref()?.maintenance.as_ref()
    }

    /// Returns the write amplification: bytes that reached the trial's own disk per byte of user
    /// data. `None` without such a disk.
    pub fn write_amplification(&self) -> Option<f64> {
        self.amplified(self.device_io?.written_bytes)
    }

    /// Returns the write amplification with maintenance, because the background work that a load
    /// causes is part of its cost. `None` for a run with a window, because maintenance also writes
    /// outside of it.
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
mod tests {
    use super::super::Observed;
    use super::*;

    fn run() -> Run {
        let device = |written_bytes| Some(DeviceIo { written_bytes, ..DeviceIo::default() });
        let maintenance = Maintenance {
            elapsed_ns: 1,
            engine: Resources { written_bytes: Some(7), ..Resources::default() },
            disk_before: None,
            disk_after: None,
            device_io: device(500),
        };
        let loaded = Loaded { user_bytes: 100, device_io: None, maintenance: Some(maintenance) };
        let engine = Resources { written_bytes: Some(9), ..Resources::default() };
        let device_io = device(1_000);
        Run { elapsed_ns: 1, ops: 1, engine, device_io, loaded: Some(loaded), ..Run::default() }
    }

    fn amplifications(run: &Run) -> [Option<f64>; 2] {
        [run.write_amplification(), run.amplification_with_maintenance()]
    }

    #[test]
    fn amplification_is_bytes_that_reached_the_device_over_bytes_of_the_user() {
        assert_eq!(amplifications(&run()), [Some(10.0), Some(15.0)]);
    }

    #[test]
    fn a_run_that_put_nothing_in_or_had_no_device_of_its_own_has_no_amplification() {
        let mut nothing = run();
        nothing.loaded.as_mut().unwrap().user_bytes = 0;
        assert_eq!(amplifications(&nothing), [None; 2]);
        assert_eq!(amplifications(&Run { loaded: None, ..run() }), [None; 2]);
        // Dirtied pages are not what reached the device.
        assert_eq!(amplifications(&Run { device_io: None, ..run() }), [None; 2]);
        let mut at_once = run();
        at_once.loaded.as_mut().unwrap().maintenance = None;
        assert_eq!(amplifications(&at_once), [Some(10.0), None]);
    }

    #[test]
    fn of_a_run_with_a_window_maintenance_does_not_count() {
        let run = Run { observed: Some(Observed::default()), ..run() };
        assert_eq!(amplifications(&run), [Some(10.0), None]);
    }
}
