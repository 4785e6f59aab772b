//! A file system on a device that completes each request at the time that a model gives.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use embermark_model::result::{StoragePath, StorageTimes};
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use nix::unistd::Pid;

use crate::device::Mounted;
use crate::error::{DeviceError, Result};
use crate::file_system::FileSystem;
use crate::medium::{Medium, lock, monotonic_ns, punch};
use crate::trace::{Access, RequestKind, Trace};

/// A request to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is requested.
    pub kind: RequestKind,
    /// Offset in bytes; 0 for a flush.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u64,
}

/// A model of a device's times.
pub trait Timing: Send {
    /// Returns when a request ends that arrives at `now`, in ns of the same clock. Requests come in
    /// order of arrival.
    fn end(&mut self, request: Request, now: u64) -> u64;
}

/// A model that the threads which serve the device share with its owner.
impl<T: Timing> Timing for Arc<Mutex<T>> {
    fn end(&mut self, request: Request, now: u64) -> u64 {
        lock(self).end(request, now)
    }
}

/// Returns the time that a request takes to a device and back, in ns: kernel, FUSE and wake-ups.
/// The device waits that much less.
const fn cost_of(path: &StoragePath, request: Request) -> u64 {
    let further = (request.length / 1024).saturating_sub(4) * path.kib_ns;
    match request.kind {
        RequestKind::Read => path.read_ns + further,
        RequestKind::Write => path.write_ns + further,
        RequestKind::Flush => path.flush_ns,
        RequestKind::Discard => 0,
    }
}

/// Largest delay that counts as on time, in ns.
const IN_TIME_NS: u64 = 50_000;

/// A file system mounted on a device that keeps its content in a file and completes requests at the
/// times of a [`Timing`]. It keeps a [`Trace`] of its requests. Dropping it unmounts it.
///
/// A flush takes its time but does not flush the file, so a power cut of this machine may lose any
/// data.
#[derive(Debug)]
pub struct TimedDevice {
    /// The mount point.
    pub at: PathBuf,
    measurements: Arc<Mutex<Measurements>>,
    mounted: Mounted,
}

/// Trace of a device, and how well it kept the times of its model.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    pub trace: Trace,
    pub times: StorageTimes,
}

impl TimedDevice {
    /// Mounts the file system in the file `image`, below `folder`, which it creates. The device
    /// handles `parallel_requests` at the same time. `sector` is its sector size in bytes: a power
    /// of two from 512 to 4096.
    ///
    /// # Errors
    /// If FUSE or a loop device is not available, or the file system cannot be mounted.
    pub fn mount(
        folder: &Path,
        image: &Path,
        file_system: FileSystem,
        timing: Box<dyn Timing>,
        parallel_requests: u32,
        sector: u32,
        path: StoragePath,
    ) -> Result<Self> {
        let image = image.canonicalize().map_err(DeviceError::io("find", image))?;
        let bytes = image.metadata().map_err(DeviceError::io("read the size of", &image))?.len();
        let measurements = Measurements { trace: Trace::new(bytes), ..Measurements::default() };
        let measurements = Arc::new(Mutex::new(measurements));
        let shared = Arc::clone(&measurements);
        let medium = move || TimedMedium::open(&image, timing, parallel_requests, path, shared);
        let mounted = Mounted::mount(folder, medium, file_system, sector)?;
        Ok(Self { at: mounted.at.clone(), measurements, mounted })
    }

    /// Unmounts the file system. Returns the trace of the device, including the unmounting, and how
    /// well it kept the times of its model.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(mut self) -> Result<(Trace, StorageTimes)> {
        self.mounted.unmount()?;
        let Measurements { trace, times } = std::mem::take(&mut *lock(&self.measurements));
        Ok((trace, times))
    }
}

/// Makes this thread and those that it starts wake up on time: with real-time priority, and without
/// the timer slack of 50 µs (prctl(2), `PR_SET_TIMERSLACK`). They stay on one processor if there
/// are several, because a thread that waits there would keep the kernel from handing over the next
/// request. Continues without it if the system refuses: [`StorageTimes`] shows the effect.
fn set_realtime() {
    let here = Pid::from_raw(0);
    if let Ok(all) = sched_getaffinity(here) {
        let last = (0..CpuSet::count()).rev().find(|cpu| all.is_set(*cpu).unwrap_or(false));
        let mut one = CpuSet::new();
        if last.is_some_and(|cpu| one.set(cpu).is_ok()) {
            let _ = sched_setaffinity(here, &one);
        }
    }
    let _ = nix::sys::prctl::set_timerslack(1);
    let first = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 is this thread, and the call reads a `struct sched_param`.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const first) };
}

/// Waits until a time of the monotonic clock.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// Duration of the shortest sleep in ns. In a virtual machine most of it is the host setting
    /// the timer.
    shortest_ns: u64,
}

impl Wait {
    /// Largest value assumed for it, because a busy machine adds time that is not sleep.
    const LONGEST_NS: u64 = 100_000;

    /// Measures the shortest sleep of this thread.
    fn measure() -> Self {
        let mut all = [0; 21].map(|_: u64| {
            let begun = monotonic_ns();
            sleep_until(begun + 1);
            monotonic_ns() - begun
        });
        all.sort_unstable();
        Self { shortest_ns: all[all.len() / 2].min(Self::LONGEST_NS) }
    }

    /// Sleeps until shortly before that time, and then polls the clock. Other threads of the same
    /// priority continue meanwhile.
    fn until(self, ns: u64) {
        if ns.saturating_sub(self.shortest_ns) > monotonic_ns() + self.shortest_ns {
            sleep_until(ns - self.shortest_ns);
        }
        while monotonic_ns() < ns {
            std::thread::yield_now();
        }
    }
}

/// Sleeps until a time of the monotonic clock.
fn sleep_until(ns: u64) {
    let until = TimeSpec::nanoseconds(ns.cast_signed());
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while let Err(Errno::EINTR) = clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until) {}
}

/// A medium in a file. It does requests at once and completes them later.
pub(crate) struct TimedMedium {
    file: File,
    bytes: u64,
    timing: Mutex<Box<dyn Timing>>,
    parallel_requests: u32,
    path: StoragePath,
    wait: Wait,
    measurements: Arc<Mutex<Measurements>>,
}

impl TimedMedium {
    /// Opens the file. Must be called on the thread that serves it.
    pub fn open(
        image: &Path,
        timing: Box<dyn Timing>,
        parallel_requests: u32,
        path: StoragePath,
        measurements: Arc<Mutex<Measurements>>,
    ) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(image)?;
        let bytes = file.metadata()?.len();
        set_realtime();
        let (timing, wait) = (Mutex::new(timing), Wait::measure());
        Ok(Self { file, bytes, timing, parallel_requests, path, wait, measurements })
    }

    /// Does the work of a request, and returns when its time has passed.
    fn serve<T>(&self, request: Request, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        // Under the lock, so that requests come in order of arrival.
        let (begun, end) = {
            let mut timing = lock(&self.timing);
            let begun = monotonic_ns();
            (begun, timing.end(request, begun))
        };
        let done = work()?;
        // A request that takes less than the path completes at once.
        let due = end.saturating_sub(cost_of(&self.path, request)).max(begun);
        self.wait.until(due);
        self.record(request, begun, end - begun, monotonic_ns().saturating_sub(due));
        Ok(done)
    }

    fn record(&self, request: Request, ns: u64, takes: u64, late: u64) {
        let mut measurements = lock(&self.measurements);
        let times = &mut measurements.times;
        times.requests += 1;
        times.late += u64::from(late > IN_TIME_NS && late > takes / 20);
        times.latest_ns = times.latest_ns.max(late);
        times.time_ns += takes;
        times.late_ns += late;
        let Request { kind, offset, length } = request;
        if kind != RequestKind::Read {
            measurements.trace.add(Access { ns, kind, offset, length });
        }
    }
}

impl Medium for TimedMedium {
    const DIRECT: bool = true;

    fn parallel_requests(&self) -> usize {
        self.parallel_requests.max(1) as usize
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let request = Request { kind: RequestKind::Read, offset, length: into.len() as u64 };
        self.serve(request, || self.file.read_exact_at(into, offset))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let request = Request { kind: RequestKind::Write, offset, length: data.len() as u64 };
        self.serve(request, || self.file.write_all_at(data, offset))
    }

    fn discard(&self, offset: u64, length: u64) -> io::Result<()> {
        let request = Request { kind: RequestKind::Discard, offset, length };
        self.serve(request, || punch(&self.file, offset, length))
    }

    fn flush(&self) {
        let request = Request { kind: RequestKind::Flush, offset: 0, length: 0 };
        let _ = self.serve(request, || Ok(()));
    }
}
