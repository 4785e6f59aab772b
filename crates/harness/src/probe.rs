//! Resources that processes use, read from the system around a run. What cannot be read is absent.
//!
//! CPU time comes from the CPU-time clock of each process, in ns (`clock_getcpuclockid(3)`). If
//! that is refused, it comes from `/proc/PID/stat`, in ticks of 10 ms. Memory, I/O and the process
//! tree come from `/proc` (`proc_pid_status(5)`, `proc_pid_io(5)`).

use std::fs;
use std::io;

use embermark_model::result::Resources;
use nix::sys::time::TimeValLike;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::processes::{self, stat};
use crate::system::read_lossy;

const PROC: &str = "/proc";

/// Measures the resources of one process, or of a process and its descendants, during a run.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    root: u32,
    with_descendants: bool,
    /// Path of the process file system: `/proc`, except in a test.
    proc: &'static str,
}

/// Readings taken before a run.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    cpu_ns: Option<u64>,
    io: Option<Io>,
    /// Whether the peak of every process was reset to its current size.
    peak_reset: bool,
}

/// Bytes read from and written to storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Io {
    read: u64,
    written: u64,
}

impl Probe {
    /// Measures one process.
    pub const fn process(pid: u32) -> Self {
        Self { root: pid, with_descendants: false, proc: PROC }
    }

    /// Measures a server: its root process and every descendant. Includes descendants that end
    /// during the run if a remaining process waits for them.
    pub const fn tree(root: u32) -> Self {
        Self { root, with_descendants: true, proc: PROC }
    }

    fn processes(&self) -> Vec<u32> {
        if self.with_descendants { processes::tree(self.root) } else { vec![self.root] }
    }

    /// Takes the readings before a run. Resets the peak of resident memory to the current size if
    /// the system permits.
    pub fn begin(&self) -> Before {
        let pids = self.processes();
        let reset = |pid: &u32| match fs::write(format!("{}/{pid}/clear_refs", self.proc), "5") {
            Ok(()) => true,
            Err(error) => is_gone(&error),
        };
        let peak_reset = pids.iter().all(reset);
        // CPU time comes last, so that reading the others is not included.
        Before { io: io_of(self.proc, &pids), peak_reset, cpu_ns: self.cpu_of(&pids) }
    }

    /// Takes the readings after the run and returns the resources used in between.
    pub fn end(&self, before: Before) -> Resources {
        let pids = self.processes();
        let cpu_ns = self.cpu_of(&pids);
        let io = io_of(self.proc, &pids);
        let between = |of: fn(Io) -> u64| of(io?).checked_sub(of(before.io?));
        Resources {
            cpu_ns: cpu_ns.zip(before.cpu_ns).and_then(|(after, before)| after.checked_sub(before)),
            mean_bytes: None,
            peak_bytes: before.peak_reset.then(|| peak_of(self.proc, &pids)).flatten(),
            read_bytes: between(|io| io.read),
            written_bytes: between(|io| io.written),
        }
    }

    /// Returns the total CPU time of the processes in ns. For a tree it includes ended descendants,
    /// which count in their parent's share once it has waited for them.
    fn cpu_of(&self, pids: &[u32]) -> Option<u64> {
        let tick_ns = 1_000_000_000 / sysconf(SysconfVar::CLK_TCK).ok()??.unsigned_abs();
        // A process that ended since the list was made is in its parent's share.
        let times = pids.iter().filter_map(|pid| {
            let own = cpu_clock(*pid).or_else(|| Some(stat(*pid).ok()?.own_ticks * tick_ns))?;
            Some(match self.with_descendants {
                true => own + stat(*pid).map_or(0, |stat| stat.children_ticks * tick_ns),
                false => own,
            })
        });
        times.reduce(|sum, time| sum + time)
    }
}

fn cpu_clock(pid: u32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid.cast_signed())).ok()?;
    u64::try_from(clock_gettime(clock).ok()?.num_nanoseconds()).ok()
}

/// Sums the bytes from and to storage. The kernel adds those of an ended child to the parent that
/// waited for it, so they are not lost. `None` if one process cannot be read.
fn io_of(proc: &str, pids: &[u32]) -> Option<Io> {
    let add = |sum: Io, text: &str| {
        let read = sum.read.checked_add(number(text, "read_bytes:")?)?;
        let written = sum.written.checked_add(number(text, "write_bytes:")?)?;
        Some(Io { read, written })
    };
    over(proc, pids, "io", add)
}

/// Returns the peak of resident memory of processes in bytes.
///
/// For one process it is its high-water mark. Several processes may share memory, such as a
/// server's buffers. For them it is the sum of their current *proportional* set sizes, in which a
/// shared page counts once, plus the difference between each process's own peak and its current
/// size. That is an upper bound, reached if all peaks are at the same time.
fn peak_of(proc: &str, pids: &[u32]) -> Option<u64> {
    let mut sum = None;
    for pid in pids {
        let Ok(status) = read_lossy(format!("{proc}/{pid}/status")) else { continue };
        // A process that has ended but was not waited for has no memory and no such lines.
        let Some(peak) = number(&status, "VmHWM:") else { continue };
        let share = if pids.len() == 1 {
            peak
        } else {
            let resident = number(&status, "VmRSS:")?;
            match read_lossy(format!("{proc}/{pid}/smaps_rollup")) {
                Ok(rollup) => number(&rollup, "Pss:")? + peak.saturating_sub(resident),
                Err(error) if is_gone(&error) => continue,
                Err(_) => return None,
            }
        };
        sum = Some(sum.unwrap_or(0) + share * 1024);
    }
    sum
}

/// The probes of a trial: one for the engine's processes, and one for the client if that is another
/// process.
pub(crate) struct Probes {
    engine: Option<Probe>,
    client: Option<Probe>,
}

impl Probes {
    /// Makes the probes. An embedded engine is measured in this process. A private server is
    /// measured in its own processes, separately from this one. A server given by URL (`foreign`)
    /// cannot be measured.
    pub fn new(server: Option<u32>, foreign: bool) -> Self {
        let this = Probe::process(std::process::id());
        match server {
            Some(root) => Self { engine: Some(Probe::tree(root)), client: Some(this) },
            None if foreign => Self { engine: None, client: Some(this) },
            None => Self { engine: Some(this), client: None },
        }
    }

    pub fn begin(&self) -> [Option<Before>; 2] {
        [self.engine, self.client].map(|probe| probe.map(|probe| probe.begin()))
    }

    pub fn end(&self, [engine, client]: [Option<Before>; 2]) -> (Resources, Option<Resources>) {
        let end = |probe: Option<Probe>, before| Some(probe?.end(before?));
        (end(self.engine, engine).unwrap_or_default(), end(self.client, client))
    }
}

/// Returns the resident memory of a process in bytes.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = read_lossy(format!("/proc/{pid}/status")).ok()?;
    Some(number(&status, "VmRSS:")? * 1024)
}

/// Returns the resident memory of processes in bytes, with shared memory counted once. For several
/// it is the sum of their proportional set sizes. `None` if there is none or none can be read.
pub(crate) fn resident_of(pids: &[u32]) -> Option<u64> {
    if let [pid] = pids {
        return resident_bytes(*pid);
    }
    // A process that has ended but was not waited for has no memory.
    over(PROC, pids, "smaps_rollup", |sum: u64, rollup| {
        Some(sum + number(rollup, "Pss:").unwrap_or(0) * 1024)
    })
}

/// Sums a figure over a file of each process. `None` if there is no process or one cannot be read.
fn over<T: Default>(
    proc: &str,
    pids: &[u32],
    file: &str,
    add: impl Fn(T, &str) -> Option<T>,
) -> Option<T> {
    let mut sum = None;
    for pid in pids {
        match read_lossy(format!("{proc}/{pid}/{file}")) {
            Ok(text) => sum = Some(add(sum.unwrap_or_default(), &text)?),
            Err(error) if is_gone(&error) => {}
            Err(_) => return None,
        }
    }
    sum
}

/// Returns the first number on the line that begins with `label`.
pub(crate) fn number(text: &str, label: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// Whether a process ended while its files were read (ESRCH once they are open).
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_the_whole_label() {
        let text = "rchar: 5\nread_bytes: 7\nVmHWM:\t  12 kB\n";
        assert_eq!(number(text, "read_bytes:"), Some(7));
        assert_eq!(number(text, "VmHWM:"), Some(12));
        assert_eq!(number(text, "write_bytes:"), None);
    }

    /// A probe of process 1 of a simulated system.
    fn made_up(files: &[(&str, &str)]) -> (tempfile::TempDir, Probe) {
        let tree = tempfile::tempdir().unwrap();
        let dir = tree.path().join("4000000000");
        fs::create_dir(&dir).unwrap();
        files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
        let proc: &'static str =
            Box::leak(tree.path().to_str().unwrap().to_owned().into_boxed_str());
        (tree, Probe { root: 4_000_000_000, with_descendants: false, proc })
    }

    #[test]
    fn a_counter_that_wrapped_or_cannot_be_read_is_not_measured_and_never_0() {
        let before = "read_bytes: 700\nwrite_bytes: 18446744073709551000\n";
        let (tree, probe) = made_up(&[("io", before), ("status", "VmHWM:\t 12 kB\n")]);
        let begun = probe.begin();
        let io = tree.path().join("4000000000/io");
        fs::write(&io, "read_bytes: 705\nwrite_bytes: 24\n").unwrap();
        let used = probe.end(begun);
        assert_eq!((used.read_bytes, used.written_bytes), (Some(5), None));
        assert_eq!((used.peak_bytes, used.cpu_ns), (Some(12 * 1024), None));

        fs::write(&io, "read_bytes: many\nwrite_bytes: 24\n").unwrap();
        let used = probe.end(begun);
        assert_eq!((used.read_bytes, used.written_bytes), (None, None));
        // A kernel without I/O accounting has no such file. That of a foreign process cannot be
        // read.
        fs::remove_file(&io).unwrap();
        fs::create_dir(&io).unwrap();
        assert_eq!(probe.end(begun).read_bytes, None);
    }

    #[test]
    fn a_peak_that_could_not_be_set_back_is_not_told() {
        let (tree, probe) = made_up(&[("status", "VmHWM:\t 12 kB\n")]);
        fs::create_dir(tree.path().join("4000000000/clear_refs")).unwrap();
        assert_eq!(probe.end(probe.begin()).peak_bytes, None);
        let (_tree, probe) = made_up(&[("status", "Name: kernel thread\n")]);
        assert_eq!(probe.end(probe.begin()), Resources::default());
    }

    #[test]
    fn a_process_that_is_gone_is_not_measured_rather_than_idle() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        for probe in [Probe::process(pid), Probe::tree(pid)] {
            assert_eq!(probe.end(probe.begin()), Resources::default());
        }
    }
}
