//! What a phase uses that says itself when its measuring begins.

use std::path::{Path, PathBuf};
use std::time::Instant;

use embermark_model::result::{Latency, Observed};
use embermark_workloads::Watch;

use crate::disk;
use crate::probe::{Before, Probe};

/// Watches one run.
pub(crate) struct Watching {
    processes: Vec<(&'static str, Probe, Option<Before>)>,
    site: PathBuf,
    opened: Option<Opened>,
    observed: Observed,
}

/// Readings at the beginning of the window.
struct Opened {
    at: Instant,
    allocated: Option<u64>,
}

impl Watching {
    /// Watches this process, which is the writer, and a private server.
    pub fn new(server: Option<u32>, site: &Path) -> Self {
        let writer = ("writer", Probe::process(std::process::id()), None);
        let server = server.map(|root| ("server", Probe::tree(root), None));
        Self {
            processes: server.into_iter().chain([writer]).collect(),
            site: site.to_owned(),
            opened: None,
            observed: Observed::default(),
        }
    }

    /// What was seen.
    pub fn observed(self) -> Observed {
        self.observed
    }
}

impl Watch for Watching {
    fn process(&mut self, role: &'static str, pid: u32) {
        self.processes.push((role, Probe::process(pid), None));
    }

    fn open(&mut self) {
        let allocated = disk::size_of(&self.site).ok().map(|size| size.allocated_bytes);
        for (_, probe, before) in &mut self.processes {
            *before = Some(probe.begin());
        }
        self.opened = Some(Opened { at: Instant::now(), allocated });
    }

    fn close(&mut self) {
        let Some(opened) = self.opened.take() else { return };
        self.observed.window_ns = opened.at.elapsed().as_nanos() as u64;
        for (role, probe, before) in &self.processes {
            if let Some(before) = before {
                self.observed.processes.insert((*role).to_owned(), probe.end(*before));
            }
        }
        let allocated = disk::size_of(&self.site).ok().map(|size| size.allocated_bytes);
        self.observed.disk_growth_bytes = allocated
            .zip(opened.allocated)
            .map(|(after, before)| after.cast_signed() - before.cast_signed());
    }

    fn count(&mut self, name: &'static str, count: u64) {
        self.observed.counts.insert(name.to_owned(), count);
    }

    fn latency(&mut self, name: &'static str, latency: Latency) {
        self.observed.latencies.insert(name.to_owned(), latency);
    }

    fn remark(&mut self, remark: &str) {
        if self.observed.remarks.iter().all(|known| known != remark) {
            self.observed.remarks.push(remark.to_owned());
        }
    }
}
