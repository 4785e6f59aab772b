//! Measures what a run that inserts or deletes rows does to the trial's disk, and the maintenance
//! after the run.

use std::path::PathBuf;

use embermark_engines::{Engine, Result};
use embermark_model::result::{Loaded, Maintenance};
use embermark_workloads::Bench;

use crate::clock;
use crate::disk;
use crate::probe::Probes;
use crate::protocol::{Between, Job};
use crate::trial_disk::DeviceSnapshot;

/// Measures the loads of a trial outside the clock.
pub(crate) struct Loads {
    site: PathBuf,
    own_disk: bool,
    maintains: bool,
}

impl Loads {
    /// Makes the loads of a job. The maintenance of a server given by URL cannot be measured.
    pub fn new(job: &Job, engine: &dyn Engine) -> Self {
        let maintains = engine.has_maintenance() && job.url.is_none();
        Self { site: job.site.clone(), own_disk: job.own_disk, maintains }
    }

    /// Reads the counters of the trial's own disk before a run of a phase. `None` without such a
    /// disk.
    pub fn begin(&self) -> Option<DeviceSnapshot> {
        self.own_disk.then(|| DeviceSnapshot::at(&self.site)).flatten()
    }

    /// Measures a run of a phase that did `ops` operations. `None` if it neither inserts nor
    /// deletes rows. The engine runs its maintenance after the `last` run. Also returns the period
    /// in which only maintenance used the disk.
    pub fn end(
        &self,
        bench: &mut dyn Bench,
        (phase, ops): (usize, u64),
        last: bool,
        probes: &Probes,
    ) -> Result<(Option<Loaded>, Option<Between>)> {
        let Some(user_bytes) = bench.user_bytes(phase, ops) else { return Ok((None, None)) };
        let maintenance = match last && self.maintains {
            true => self.maintenance(bench, probes)?,
            false => None,
        };
        let (maintenance, between) = maintenance.unzip();
        let loaded = Loaded { user_bytes, device_io: None, maintenance };
        Ok((Some(loaded), between.flatten()))
    }

    /// Runs the maintenance. `None` if the clock cannot be read.
    fn maintenance(
        &self,
        bench: &mut dyn Bench,
        probes: &Probes,
    ) -> Result<Option<(Maintenance, Option<Between>)>> {
        let device = self.begin();
        let disk_before = disk::size_of(&self.site).ok();
        let before = probes.begin();
        let began = clock::monotonic_ns();
        bench.maintain_as_left()?;
        let ended = clock::monotonic_ns();
        let (engine, _) = probes.end(before);
        let disk_after = disk::size_of(&self.site).ok();
        let reached = device.and_then(|device| device.since());
        let elapsed = ended.zip(began).and_then(|(ended, began)| ended.checked_sub(began));
        let of_disk = reached.and_then(|reached| reached.between);
        let maintenance = elapsed.map(|elapsed_ns| Maintenance {
            elapsed_ns,
            engine,
            disk_before,
            disk_after,
            device_io: reached.map(|reached| reached.io),
        });
        Ok(maintenance.map(|maintenance| (maintenance, of_disk)))
    }
}
