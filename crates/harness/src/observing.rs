//! What a phase uses that says itself when its measuring begins.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use embermark_engines::{Kind, Link, network};
use embermark_model::result::{DiskCurve, Latency, Observed, Resources, Timeline};
use embermark_workloads::PhaseObserver;

use crate::disk_curve::Sampler;
use crate::energy::{Counter, Readings, Window};
use crate::probe::{Before, Probe};
use crate::protocol::Job;
use crate::timeline;
use crate::{disk, isolation};

/// The role of a client that is a process of its own.
const CLIENT: &str = "client";

/// What passes between client and server, and whether it can be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// There is none, or nobody asks.
    None,
    /// Over the loopback device of a namespace of their own: exactly.
    Own,
    /// Over the machine's loopback device, with whatever else passes there; why.
    Shared(String),
    /// Over a network that is not ours.
    Foreign,
}

impl Traffic {
    /// Of the worker of a job, which has one thread yet: puts it into a network namespace of its own
    /// where traffic is to be counted.
    pub fn of(job: &Job, kind: Kind, counted: bool) -> Self {
        if !counted || kind != Kind::Server {
            return Self::None;
        }
        if job.url.is_some() {
            return Self::Foreign;
        }
        match network::enter() {
            Ok(()) => Self::Own,
            Err(error) => Self::Shared(error.to_string()),
        }
    }

    const fn is_counted(&self) -> bool {
        matches!(self, Self::Own | Self::Shared(_))
    }

    /// How a private server is reached so that it is counted.
    pub const fn link(&self) -> Link {
        if self.is_counted() { Link::Loopback } else { Link::Socket }
    }

    /// Bytes that have passed.
    fn bytes(&self) -> Option<u64> {
        self.is_counted().then(network::counters)?.ok().map(|counters| counters.bytes)
    }

    fn remark(&self) -> Option<String> {
        match self {
            Self::None | Self::Own => None,
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

/// Watches one run.
pub(crate) struct Watching<'a> {
    processes: Vec<(&'static str, Probe, Option<Before>)>,
    site: PathBuf,
    own_disk: bool,
    traffic: Traffic,
    opened: Option<Opened>,
    /// Of a phase that writes: the size when it began, and who samples it.
    writing: Option<(u64, Option<Sampler>)>,
    /// When it began to be sampled, and when the window began.
    sampled: Option<Instant>,
    windowed: Option<Instant>,
    observed: Observed,
    /// Counters of energy, as they were when the window began, and what they counted in it.
    counters: &'a [Counter],
    energy: Option<Readings<'a>>,
    energy_window: Option<Window>,
    to_device: Option<isolation::Since>,
}

/// Readings at the beginning of the window.
struct Opened {
    at: Instant,
    allocated: Option<u64>,
    network: Option<u64>,
    device: Option<isolation::Before>,
}

impl<'a> Watching<'a> {
    /// Watches this process, which is the writer, and a private server; with `own_disk` the device
    /// under `site`, too.
    pub fn new(server: Option<u32>, site: &Path, own_disk: bool, traffic: &Traffic) -> Self {
        let writer = ("writer", Probe::process(std::process::id()), None);
        let server = server.map(|root| ("server", Probe::tree(root), None));
        Self {
            processes: server.into_iter().chain([writer]).collect(),
            site: site.to_owned(),
            own_disk,
            traffic: traffic.clone(),
            opened: None,
            writing: None,
            sampled: None,
            windowed: None,
            observed: Observed {
                remarks: traffic.remark().into_iter().collect(),
                ..Observed::default()
            },
            counters: &[],
            energy: None,
            energy_window: None,
            to_device: None,
        }
    }

    /// Reads these counters of energy at the beginning and the end of the window.
    pub const fn counting(mut self, counters: &'a [Counter]) -> Self {
        self.counters = counters;
        self
    }

    /// What they counted; `None` where there was no window.
    pub fn energy_window(&mut self) -> Option<Window> {
        self.energy_window.take()
    }

    /// What reached the device from the beginning of the window until all that was written in it was
    /// there.
    pub const fn to_device(&self) -> Option<isolation::Since> {
        self.to_device
    }

    /// Samples the disk, where somebody does.
    fn begin_sampled(&mut self, bytes: u64, sampler: Option<io::Result<Sampler>>) {
        let sampler = sampler.transpose().unwrap_or_else(|error| {
            self.remark(&format!("the disk over time was not sampled: {error}"));
            None
        });
        self.sampled = Some(Instant::now());
        self.writing = Some((bytes, sampler));
    }

    /// Bytes of the data directory; `None` where it is not here.
    fn size(&self) -> Option<u64> {
        if self.traffic == Traffic::Foreign {
            return None;
        }
        disk::size_of(&self.site).ok().map(|size| size.allocated_bytes)
    }

    /// What the engine used, and its client where they are two: of a client that is a process of its own,
    /// in which an embedded engine is too. Nothing is known of a server that is not ours (`foreign`).
    pub fn client_apart(&self, foreign: bool) -> Option<(Resources, Option<Resources>)> {
        let client = *self.observed.processes.get(CLIENT)?;
        Some(match self.observed.processes.get("server") {
            Some(server) => (*server, Some(client)),
            None if foreign => (Resources::default(), Some(client)),
            None => (client, None),
        })
    }

    /// What was seen.
    pub fn observed(self) -> Observed {
        self.observed
    }
}

impl PhaseObserver for Watching<'_> {
    fn process(&mut self, role: &'static str, pid: u32) {
        self.processes.push((role, Probe::process(pid), None));
    }

    fn begin(&mut self, lasts: Duration) {
        let Some(bytes) = self.size() else { return };
        let sampler = Sampler::start(&self.site, lasts);
        self.begin_sampled(bytes, sampler);
    }

    fn sample(&mut self, every: Duration, longest: Duration) {
        let Some(bytes) = self.size() else { return };
        let sampler =
            (longest >= every).then(|| Sampler::start_every(&self.site, every, self.own_disk));
        self.begin_sampled(bytes, sampler);
    }

    fn allocated(&self) -> Option<u64> {
        self.size()
    }

    fn timeline(&mut self, mut timeline: Timeline) {
        let begin = self.sampled.zip(self.windowed);
        if let (Some(curve), Some((sampled, windowed))) = (&self.observed.disk, begin) {
            let later = windowed.saturating_duration_since(sampled).as_secs_f64();
            timeline::fill(&mut timeline, curve, later);
        }
        self.observed.timeline = Some(timeline);
    }

    fn end(&mut self) {
        let Some((begin_bytes, sampler)) = self.writing.take() else { return };
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
        let allocated = disk::size_of(&self.site).ok().map(|size| size.allocated_bytes);
        for (_, probe, before) in &mut self.processes {
            *before = Some(probe.begin());
        }
        let device = self.own_disk.then(|| isolation::Before::at(&self.site)).flatten();
        let network = self.traffic.bytes();
        self.energy = Some(Readings::begin(self.counters));
        let at = Instant::now();
        self.windowed = Some(at);
        self.opened = Some(Opened { at, allocated, network, device });
    }

    fn close(&mut self) {
        let Some(opened) = self.opened.take() else { return };
        self.observed.window_ns = opened.at.elapsed().as_nanos() as u64;
        self.energy_window = self.energy.take().and_then(Readings::end);
        let network = self.traffic.bytes().zip(opened.network);
        self.observed.network_bytes = network.and_then(|(after, before)| after.checked_sub(before));
        for (role, probe, before) in &self.processes {
            if let Some(before) = before {
                self.observed.processes.insert((*role).to_owned(), probe.end(*before));
            }
        }
        let allocated = disk::size_of(&self.site).ok().map(|size| size.allocated_bytes);
        self.observed.disk_growth_bytes = allocated
            .zip(opened.allocated)
            .map(|(after, before)| after.cast_signed() - before.cast_signed());
        self.to_device = opened.device.and_then(|device| device.since());
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
