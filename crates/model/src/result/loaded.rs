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
mod tests {
    use super::super::Observed;
    use super::*;

    fn run() -> Run {
        let written = |bytes| Resources { written_bytes: Some(bytes), ..Resources::default() };
        let device = |written_bytes| Some(DeviceIo { written_bytes, ..DeviceIo::default() });
        let maintenance = Maintenance {
            elapsed_ns: 1,
            engine: written(300),
            disk_before: None,
            disk_after: None,
            device_io: device(500),
        };
        let loaded =
            Loaded { user_bytes: 100, device_io: device(1_000), maintenance: Some(maintenance) };
        Run { elapsed_ns: 1, ops: 1, engine: written(200), loaded: Some(loaded), ..Run::default() }
    }

    fn amplifications(run: &Run) -> [Option<f64>; 3] {
        [
            run.write_amplification(),
            run.amplification_with_maintenance(),
            run.device_amplification(),
        ]
    }

    #[test]
    fn amplification_is_bytes_written_over_bytes_of_the_user() {
        assert_eq!(amplifications(&run()), [Some(2.0), Some(5.0), Some(15.0)]);
    }

    #[test]
    fn a_run_that_put_nothing_in_or_was_not_measured_has_no_amplification() {
        let mut nothing = run();
        nothing.loaded.as_mut().unwrap().user_bytes = 0;
        assert_eq!(amplifications(&nothing), [None; 3]);
        assert_eq!(amplifications(&Run { loaded: None, ..run() }), [None; 3]);
        let unseen = Run { engine: Resources::default(), ..run() };
        assert_eq!(amplifications(&unseen), [None, None, Some(15.0)]);
        let mut at_once = run();
        at_once.loaded.as_mut().unwrap().maintenance = None;
        assert_eq!(amplifications(&at_once), [Some(2.0), None, Some(10.0)]);
    }

    #[test]
    fn of_a_run_with_a_window_what_was_written_in_it_counts() {
        let mut run = Run { observed: Some(Observed::default()), ..run() };
        assert_eq!(amplifications(&run), [None; 3]);
        let processes = &mut run.observed.as_mut().unwrap().processes;
        processes.insert("sensor".into(), Resources { written_bytes: Some(9), ..run.engine });
        processes.insert("writer".into(), Resources { written_bytes: Some(700), ..run.engine });
        assert_eq!(amplifications(&run), [Some(7.0), None, None]);
    }
}
