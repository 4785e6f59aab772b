//! A file system on a device that answers each request after the time that somebody else says.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

use crate::device::{DeviceError, Mounted};
use crate::file_system::FileSystem;
use crate::recorder::{Medium, lock};
use crate::trace::{Access, AccessKind, Trace};

/// What is asked of a device: bytes from a place on, or of a flush none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What.
    pub kind: RequestKind,
    /// Where, in bytes from the device's begin.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// Bytes are given up.
    Discard,
    /// What was written is to be kept.
    Flush,
}

/// Says when requests end.
pub trait Timing: Send {
    /// When a request ends that arrives `now`, in ns of the same clock. Requests come in the order of their arrivals.
    fn end(&mut self, request: Request, now: u64) -> u64;
}

/// What the way to a device and back takes, beside what the device does, in ns. It passes by itself, and so is part of
/// the time that a request is to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCost {
    /// Of a read of 4 KiB.
    pub read_ns: u64,
    /// Of a write of 4 KiB.
    pub write_ns: u64,
    /// Of a flush.
    pub flush_ns: u64,
    /// For each KiB of a read or write beyond 4.
    pub kib_ns: u64,
}

impl PathCost {
    /// That of a request.
    pub const fn of(&self, request: Request) -> u64 {
        let further = (request.length / 1024).saturating_sub(4) * self.kib_ns;
        match request.kind {
            RequestKind::Read => self.read_ns + further,
            RequestKind::Write => self.write_ns + further,
            RequestKind::Flush => self.flush_ns,
            RequestKind::Discard => 0,
        }
    }
}

/// How well a device kept the times that it was to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Requests that it answered, discards not among them.
    pub requests: u64,
    /// Those that it answered too late by more than 50 µs and by more than a twentieth of their time.
    pub late: u64,
    /// How much later than it was to be the latest was answered, in ns.
    pub latest_ns: u64,
    /// What the times of all came to, in ns.
    pub time_ns: u64,
    /// How much later than they were to be all were answered, in ns.
    pub late_ns: u64,
}

/// An answer that is no later than this is in time, in ns.
const IN_TIME_NS: u64 = 50_000;

/// A file system, mounted on a device whose content is a file, and which takes as long as a [`Timing`] says. What
/// reaches it is recorded. Dropping it unmounts it.
///
/// Nothing is promised of what the file holds after a power cut: a flush takes its time, and is not done.
#[derive(Debug)]
pub struct TimedDevice {
    /// The folder at which the file system is mounted.
    pub at: PathBuf,
    noted: Arc<Mutex<Noted>>,
    mounted: Mounted,
}

/// What a device has to tell.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub trace: Trace,
    pub kept: Kept,
}

impl TimedDevice {
    /// Mounts the file system that the file `image` holds, below `folder`, which is made. So many requests are worked
    /// on at the same time.
    ///
    /// # Errors
    /// When FUSE or the loop device cannot be had, or the file system not be mounted.
    pub fn mount(
        folder: &Path,
        image: &Path,
        file_system: FileSystem,
        timing: Box<dyn Timing>,
        at_once: u32,
        path: PathCost,
    ) -> Result<Self, DeviceError> {
        let image = image.canonicalize().map_err(|e| DeviceError::io("find", image, e))?;
        let bytes = image.metadata().map_err(|e| DeviceError::io("look at", &image, e))?.len();
        let noted = Arc::new(Mutex::new(Noted { trace: Trace::of(bytes), kept: Kept::default() }));
        let kept = Arc::clone(&noted);
        let medium = move || Timed::over(&image, timing, at_once, path, kept);
        let mounted = Mounted::mount(folder, medium, file_system)?;
        Ok(Self { at: mounted.at.clone(), noted, mounted })
    }

    /// How well it has kept its times so far.
    pub fn kept(&self) -> Kept {
        lock(&self.noted).kept
    }

    /// Unmounts it, and returns what has reached it, what unmounting brought there included, and how well it kept its
    /// times.
    ///
    /// # Errors
    /// When it is in use still.
    pub fn unmount(mut self) -> Result<(Trace, Kept), DeviceError> {
        self.mounted.take_down()?;
        let Noted { trace, kept } = std::mem::take(&mut *lock(&self.noted));
        Ok((trace, kept))
    }
}

/// Has this thread, and those that it starts, wake when they asked to: ahead of all that has no time to keep, and not
/// when it suits the kernel, which is up to 50 µs later (prctl(2), `PR_SET_TIMERSLACK`). Where a limit withholds it, it is done
/// without: how well times were kept is counted.
fn keep_time() {
    let _ = nix::sys::prctl::set_timerslack(1);
    let first = libc::sched_param { sched_priority: 1 };
    // SAFETY: of this thread, and the call reads a `struct sched_param`.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const first) };
}

fn monotonic_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| now.num_nanoseconds()).unsigned_abs()
}

/// Sleeps until a moment of the monotonic clock.
fn sleep_until(ns: u64) {
    let until = TimeSpec::nanoseconds(ns.cast_signed());
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    while let Err(Errno::EINTR) = clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until) {}
}

/// A file that is read and written at once, and answers later.
pub(crate) struct Timed {
    file: File,
    bytes: u64,
    timing: Mutex<Box<dyn Timing>>,
    at_once: u32,
    path: PathCost,
    noted: Arc<Mutex<Noted>>,
}

impl Timed {
    /// Over a file, on the thread that serves it.
    pub fn over(
        image: &Path,
        timing: Box<dyn Timing>,
        at_once: u32,
        path: PathCost,
        noted: Arc<Mutex<Noted>>,
    ) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(image)?;
        let bytes = file.metadata()?.len();
        keep_time();
        Ok(Self { file, bytes, timing: Mutex::new(timing), at_once, path, noted })
    }

    /// Does what a request asks for, and returns when it has taken its time.
    fn serve<T>(&self, request: Request, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        // Asked where nobody comes between: requests are in the order of their times.
        let (begun, end) = {
            let mut timing = lock(&self.timing);
            let begun = monotonic_ns();
            (begun, timing.end(request, begun))
        };
        let done = work()?;
        let worked = monotonic_ns();
        // One that takes less than the way to it and back is answered at once.
        let due = end.saturating_sub(self.path.of(request)).max(begun);
        if due > worked {
            sleep_until(due);
        }
        self.note(request, begun, end - begun, monotonic_ns().saturating_sub(due));
        Ok(done)
    }

    fn note(&self, request: Request, ns: u64, takes: u64, late: u64) {
        let mut noted = lock(&self.noted);
        let kept = &mut noted.kept;
        kept.requests += 1;
        kept.late += u64::from(late > IN_TIME_NS && late > takes / 20);
        kept.latest_ns = kept.latest_ns.max(late);
        kept.time_ns += takes;
        kept.late_ns += late;
        let kind = match request.kind {
            RequestKind::Read => return,
            RequestKind::Write => AccessKind::Write,
            RequestKind::Discard => AccessKind::Discard,
            RequestKind::Flush => AccessKind::Flush,
        };
        noted.trace.add(Access { ns, kind, offset: request.offset, length: request.length });
    }
}

impl Medium for Timed {
    const DIRECT: bool = true;

    fn at_once(&self) -> usize {
        self.at_once.max(1) as usize
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
        let hole = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        self.serve(request, || {
            Ok(fallocate(&self.file, hole, offset.cast_signed(), length.cast_signed())?)
        })
    }

    fn flush(&self) {
        let request = Request { kind: RequestKind::Flush, offset: 0, length: 0 };
        let _ = self.serve(request, || Ok(()));
    }
}
