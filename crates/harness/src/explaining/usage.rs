//! Page faults and context switches of processes.

use std::collections::HashMap;
use std::fs;

use embermark_model::result::OsCost;
use nix::sys::resource::{UsageWho, getrusage};

use crate::processes::{self, stat};
use crate::system::read_lossy;

/// The processes to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processes {
    /// This process.
    Own,
    /// A server and all its descendants.
    Tree(u32),
}

/// Counters at one point of time.
pub(super) struct Reading {
    minor_faults: u64,
    major_faults: u64,
    /// Voluntary and involuntary switches by thread. For this process it is one sum that includes
    /// threads which have ended.
    switches: HashMap<u32, [u64; 2]>,
}

impl Processes {
    /// Returns the current process ids.
    pub fn ids(self) -> Vec<u32> {
        match self {
            Self::Own => vec![std::process::id()],
            Self::Tree(root) => processes::tree(root),
        }
    }

    /// Reads the counters. `None` if they cannot be read.
    pub fn read(self) -> Option<Reading> {
        match self {
            Self::Own => {
                let used = getrusage(UsageWho::RUSAGE_SELF).ok()?;
                let switches =
                    [used.voluntary_context_switches(), used.involuntary_context_switches()];
                let own = switches.map(i64::unsigned_abs);
                Some(Reading {
                    minor_faults: used.minor_page_faults().unsigned_abs(),
                    major_faults: used.major_page_faults().unsigned_abs(),
                    switches: HashMap::from([(std::process::id(), own)]),
                })
            }
            Self::Tree(_) => {
                let mut reading =
                    Reading { minor_faults: 0, major_faults: 0, switches: HashMap::new() };
                // A process may end between listing and reading.
                for pid in self.ids() {
                    let Ok(stat) = stat(pid) else { continue };
                    reading.minor_faults += stat.minor_faults;
                    reading.major_faults += stat.major_faults;
                    reading.switches.extend(threads(pid).into_iter().filter_map(switches_of(pid)));
                }
                Some(reading)
            }
        }
    }
}

impl Reading {
    /// Returns the increase until `now`. The switches of a server do not include threads that began
    /// and ended in between.
    pub fn until(&self, now: &Self) -> OsCost {
        let switched = |which: usize| {
            let of = |(thread, after): (&u32, &[u64; 2])| {
                let before = self.switches.get(thread).map_or(0, |before| before[which]);
                // A thread id may have been reused.
                after[which].checked_sub(before).unwrap_or(after[which])
            };
            Some(now.switches.iter().map(of).sum())
        };
        OsCost {
            minor_faults: now.minor_faults.checked_sub(self.minor_faults),
            major_faults: now.major_faults.checked_sub(self.major_faults),
            voluntary_switches: switched(0),
            involuntary_switches: switched(1),
            ..OsCost::default()
        }
    }
}

/// Returns the threads of a process. Empty if it has ended.
pub(super) fn threads(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the switches of a thread of a process: `proc_pid_status(5)`. The file of the process
/// itself covers only its first thread.
fn switches_of(pid: u32) -> impl Fn(u32) -> Option<(u32, [u64; 2])> {
    move |thread| {
        let status = read_lossy(format!("/proc/{pid}/task/{thread}/status")).ok()?;
        let number = |label: &str| {
            let rest = status.lines().find_map(|line| line.strip_prefix(label))?;
            rest.trim().parse().ok()
        };
        Some((
            thread,
            [number("voluntary_ctxt_switches:")?, number("nonvoluntary_ctxt_switches:")?],
        ))
    }
}
