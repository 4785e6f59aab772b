//! What a run put in or deleted, what that came to on the trial's disk, and the maintenance after it.

use std::path::PathBuf;

use embermark_engines::{Engine, Result};
use embermark_model::result::{Loaded, Maintenance};
use embermark_workloads::Bench;

use crate::clock;
use crate::disk;
use crate::isolation::Before;
use crate::probes::Probes;
use crate::protocol::{Between, Job};

/// Measures the loads of a trial beside their clock.
pub(crate) struct Loads {
    site: PathBuf,
    own_disk: bool,
    maintains: bool,
}

impl Loads {
    /// Of a job. The maintenance of a server that somebody else runs cannot be measured.
    pub fn of(job: &Job, engine: &dyn Engine) -> Self {
        let maintains = engine.has_maintenance() && job.url.is_none();
        Self { site: job.site.clone(), own_disk: job.own_disk, maintains }
    }

    /// Before a run of a phase: what its disk has seen so far, where it has one of its own.
    pub fn begin(&self) -> Option<Before> {
        self.own_disk.then(|| Before::at(&self.site)).flatten()
    }

    /// After a run of a phase that did `ops` operations; `None` where it neither inserts nor deletes rows. After the
    /// `last` one the engine runs its maintenance; the second is when that had its disk for itself.
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

    /// `None` where the clock cannot be read.
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
