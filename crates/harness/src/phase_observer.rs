//! Samples resources for phases that open their own measurement window.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use embermark_engines::{Kind, Link};
use embermark_model::result::{DiskCurve, Latency, Observed, Resources, Timeline};
use embermark_workloads::PhaseObserver;

use crate::disk_curve::{Sampler, fill_timeline};
use crate::energy::{Counter, Readings, Window};
use crate::probe::{Before, Probe};
use crate::protocol::Job;
use crate::{disk, trial_disk};

/// Role of a client in a separate process.
const CLIENT: &str = "client";

/// Traffic between client and server, and whether it can be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// No traffic, or traffic that is not counted.
    None,
    /// Over the loopback device of a private namespace: counted exactly.
    Private,
    /// Over the machine's loopback device, together with other traffic, for this reason.
    Shared(String),
    /// Over a foreign network.
    Foreign,
}

impl Traffic {
    /// Determines the traffic of a job's worker, which still has one thread. Moves it into its own
    /// network namespace if traffic is to be counted, or a link to be imitated.
    pub fn detect(job: &Job, kind: Kind, counted: bool) -> Self {
        if !(counted || job.plan.network.is_some()) || kind != Kind::Server {
            return Self::None;
        }
        if job.url.is_some() {
            return Self::Foreign;
        }
        match embermark_network::enter() {
            Ok(()) => Self::Private,
            Err(error) => Self::Shared(error.to_string()),
        }
    }

    const fn is_counted(&self) -> bool {
        matches!(self, Self::Private | Self::Shared(_))
    }

    /// Returns how to connect to a private server so that traffic is counted.
    pub const fn link(&self) -> Link {
        if self.is_counted() { Link::Loopback } else { Link::Socket }
    }

    /// Returns the number of bytes transferred so far.
    fn bytes(&self) -> Option<u64> {
        self.is_counted().then(embermark_network::counters)?.ok().map(|counters| counters.bytes)
    }

    fn remark(&self) -> Option<String> {
        match self {
            Self::None | Self::Private => None,
            Self::Shared(why) => Some(format!(
                "network: everything on the machine's loopback device was counted, because there is \
                 no network namespace of its own ({why})"
            )),
            Self::Foreign => {
                Some("network: not measured with a server that is given by its URL".to_owned())
            }
        }
    }
}

/// Samples resources during one run.
pub(crate) struct ResourceObserver<'a> {
    processes: Vec<(&'static str, Probe, Option<Before>)>,
    site: &'a Path,
    own_disk: bool,
    traffic: Traffic,
    window_start: Option<WindowStart<'a>>,
    /// For a phase that writes: the size when it began, and the sampler.
    disk_sampling: Option<(u64, Option<Sampler>)>,
    /// When sampling began, and when the window began.
    sampling_began: Option<Instant>,
    window_began: Option<Instant>,
    counters: &'a [Counter],
    pub observed: Observed,
    /// What the energy counters counted in the window. `None` without one.
    pub energy_window: Option<Window>,
    /// What reached the device from the beginning of the window until everything written in it was
    /// there.
    pub device_io: Option<trial_disk::DeviceDelta>,
}

/// Readings at the beginning of the window.
struct WindowStart<'a> {
    at: Instant,
    allocated: Option<u64>,
    network: Option<u64>,
    device: Option<trial_disk::DeviceSnapshot>,
    energy: Readings<'a>,
}

impl<'a> ResourceObserver<'a> {
    /// Observes this process, which is the writer, and a private server, with the disk and the
    /// energy counters of a job.
    pub fn new(server: Option<u32>, job: &'a Job, traffic: &Traffic) -> Self {
        let writer = ("writer", Probe::process(std::process::id()), None);
        let server = server.map(|root| ("server", Probe::tree(root), None));
        Self {
            processes: server.into_iter().chain([writer]).collect(),
            site: &job.site,
            own_disk: job.own_disk,
            traffic: traffic.clone(),
            window_start: None,
            disk_sampling: None,
            sampling_began: None,
            window_began: None,
            observed: Observed {
                remarks: traffic.remark().into_iter().collect(),
                ..Observed::default()
            },
            counters: &job.energy_counters,
            energy_window: None,
            device_io: None,
        }
    }

    /// Begins the disk samples, if there is a sampler.
    fn begin_sampled(&mut self, bytes: u64, sampler: Option<io::Result<Sampler>>) {
        let sampler = sampler.transpose().unwrap_or_else(|error| {
            self.remark(&format!("the disk over time was not sampled: {error}"));
            None
        });
        self.sampling_began = Some(Instant::now());
        self.disk_sampling = Some((bytes, sampler));
    }

    /// Returns the size of the data directory in bytes. `None` if it is on another machine.
    fn size(&self) -> Option<u64> {
        if self.traffic == Traffic::Foreign {
            return None;
        }
        allocated_bytes(self.site)
    }

    /// Returns the resources of the engine and of its client, if that is a separate process. An
    /// embedded engine is part of the client. Nothing is known about a server given by URL
    /// (`foreign`).
    pub fn separate_client(&self, foreign: bool) -> Option<(Resources, Option<Resources>)> {
        let client = *self.observed.processes.get(CLIENT)?;
        Some(match self.observed.processes.get("server") {
            Some(server) => (*server, Some(client)),
            None if foreign => (Resources::default(), Some(client)),
            None => (client, None),
        })
    }
}

fn allocated_bytes(site: &Path) -> Option<u64> {
    disk::size_of(site).ok().map(|size| size.allocated_bytes)
}

impl PhaseObserver for ResourceObserver<'_> {
    fn process(&mut self, role: &'static str, pid: u32) {
        self.processes.push((role, Probe::process(pid), None));
    }

    fn begin(&mut self, lasts: Duration) {
        let Some(bytes) = self.size() else { return };
        let sampler = Sampler::start(self.site, lasts);
        self.begin_sampled(bytes, sampler);
    }

    fn sample(&mut self, every: Duration, longest: Duration) {
        let Some(bytes) = self.size() else { return };
        let sampler =
            (longest >= every).then(|| Sampler::start_every(self.site, every, self.own_disk));
        self.begin_sampled(bytes, sampler);
    }

    fn allocated(&self) -> Option<u64> {
        self.size()
    }

    fn timeline(&mut self, mut timeline: Timeline) {
        let begin = self.sampling_began.zip(self.window_began);
        if let (Some(curve), Some((sampled, windowed))) = (&self.observed.disk, begin) {
            let later = windowed.saturating_duration_since(sampled).as_secs_f64();
            fill_timeline(&mut timeline, curve, later);
        }
        self.observed.timeline = Some(timeline);
    }

    fn end(&mut self) {
        let Some((begin_bytes, sampler)) = self.disk_sampling.take() else { return };
        let sampled = sampler.map(Sampler::stop).transpose().unwrap_or_else(|error| {
            self.remark(&format!("the disk over time was not sampled to its end: {error}"));
            None
        });
        self.observed.disk = self.size().map(|end_bytes| DiskCurve {
            begin_bytes,
            end_bytes,
            ..sampled.unwrap_or_default()
        });
    }

    fn open(&mut self) {
        let allocated = allocated_bytes(self.site);
        for (_, probe, before) in &mut self.processes {
            *before = Some(probe.begin());
        }
        let device = self.own_disk.then(|| trial_disk::DeviceSnapshot::at(self.site)).flatten();
        let network = self.traffic.bytes();
        let energy = Readings::begin(self.counters);
        let at = Instant::now();
        self.window_began = Some(at);
        self.window_start = Some(WindowStart { at, allocated, network, device, energy });
    }

    fn close(&mut self) {
        let Some(opened) = self.window_start.take() else { return };
        self.observed.window_ns = opened.at.elapsed().as_nanos() as u64;
        self.energy_window = opened.energy.end();
        let network = self.traffic.bytes().zip(opened.network);
        self.observed.network_bytes = network.and_then(|(after, before)| after.checked_sub(before));
        for (role, probe, before) in &self.processes {
            if let Some(before) = before {
                self.observed.processes.insert((*role).to_owned(), probe.end(*before));
            }
        }
        self.observed.disk_growth_bytes = allocated_bytes(self.site)
            .zip(opened.allocated)
            .map(|(after, before)| after.cast_signed() - before.cast_signed());
        self.device_io = opened.device.and_then(|device| device.since());
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
