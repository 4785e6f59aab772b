//! The worker's side of the explaining trials: page faults, context switches and hardware counters of
//! processes.
//!
//! What every run has is a field of `Resources`, read by `probe` from clocks and files of processes.
//! What needs a file or a counter of each thread, or tells something only beside such counts, is
//! read here, in an untimed trial.

use std::collections::HashMap;

use embermark_meter::Meter;
use embermark_model::result::{Explained, OsCost};
use nix::sys::resource::{UsageWho, getrusage};

use super::counters::Counters;
use super::tracer::Mark;
use crate::probe::number;
use crate::processes::{self, stat, threads};
use crate::protocol::Explain;
use crate::system::read_lossy;

/// Reads page faults, context switches and hardware counters around the runs of a trial.
pub(crate) struct Explainer {
    explain: Explain,
    engine: Processes,
    /// Set if the client is another process than the engine.
    client: Option<Processes>,
}

/// Readings before a run.
pub(crate) struct Before {
    engine: Part,
    client: Option<Part>,
}

struct Part {
    reading: Option<Reading>,
    counters: Counters,
}

impl Explainer {
    /// Makes the explainer for a trial whose engine runs in this process or in a private server.
    pub fn new(explain: Explain, server: Option<u32>) -> Self {
        match server {
            Some(root) => {
                Self { explain, engine: Processes::Tree(root), client: Some(Processes::Own) }
            }
            None => Self { explain, engine: Processes::Own, client: None },
        }
    }

    /// Makes the clock of a phase notify the tracer of this process.
    pub fn watch(&self, meter: &mut Meter) {
        if self.explain == Explain::Traced {
            meter.set_clock_hook(Mark::clock);
        }
    }

    /// Begins a run. `None` if the run is not explained here.
    pub fn begin(&self) -> Option<Before> {
        if self.explain == Explain::Traced {
            Mark::RunBegins.emit();
        }
        (self.explain == Explain::Usage).then(|| {
            let engine = begin(self.engine);
            // This process is read last, so that reading the others is not counted as its own.
            Before { engine, client: self.client.map(begin) }
        })
    }

    /// Ends a run.
    pub fn end(&self, before: Option<Before>) -> Option<Explained> {
        if self.explain == Explain::Traced {
            Mark::RunEnded.emit();
        }
        let Before { engine, client } = before?;
        let now = |of: Option<Processes>| of.and_then(Processes::read);
        let (of_client, of_engine) = (now(self.client), now(Some(self.engine)));
        let mut not_explained = Vec::new();
        let mut end = |part, reading| end(part, reading, &mut not_explained);
        let client = client.map(|client| end(client, of_client));
        let engine = end(engine, of_engine);
        Some(Explained { engine, client, not_explained, ..Explained::default() })
    }
}

fn begin(of: Processes) -> Part {
    Part { counters: Counters::begin(&of.ids()), reading: of.read() }
}

fn end(part: Part, now: Option<Reading>, not_explained: &mut Vec<String>) -> OsCost {
    let ([instructions, cache_misses], why) = part.counters.end();
    for why in why {
        if !not_explained.contains(&why) {
            not_explained.push(why);
        }
    }
    let both = part.reading.zip(now);
    let since = |of: fn(&Reading, &Reading) -> Option<u64>| {
        both.as_ref().and_then(|(before, now)| of(before, now))
    };
    // Every field is named, so that none is forgotten.
    OsCost {
        calls: None,
        minor_faults: since(|before, now| now.minor_faults.checked_sub(before.minor_faults)),
        major_faults: since(|before, now| now.major_faults.checked_sub(before.major_faults)),
        voluntary_switches: since(|before, now| Some(before.switched(now, 0))),
        involuntary_switches: since(|before, now| Some(before.switched(now, 1))),
        instructions,
        cache_misses,
    }
}

/// The processes to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Processes {
    /// This process.
    Own,
    /// A server and all its descendants.
    Tree(u32),
}

/// Counters at one point of time.
struct Reading {
    minor_faults: u64,
    major_faults: u64,
    /// Voluntary and involuntary switches by thread. For this process it is one sum that includes
    /// threads which have ended.
    switches: HashMap<u32, [u64; 2]>,
}

impl Processes {
    /// Returns the current process ids.
    fn ids(self) -> Vec<u32> {
        match self {
            Self::Own => vec![std::process::id()],
            Self::Tree(root) => processes::tree(root),
        }
    }

    /// Reads the counters. `None` if they cannot be read.
    fn read(self) -> Option<Reading> {
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
    /// Returns the voluntary switches (0) or the involuntary ones (1) until `now`. Those of a server
    /// do not include threads that began and ended in between.
    fn switched(&self, now: &Self, which: usize) -> u64 {
        let of = |(thread, after): (&u32, &[u64; 2])| {
            let before = self.switches.get(thread).map_or(0, |before| before[which]);
            // A thread id may have been reused.
            after[which].checked_sub(before).unwrap_or(after[which])
        };
        now.switches.iter().map(of).sum()
    }
}

/// Returns the switches of a thread of a process: `proc_pid_status(5)`. The file of the process
/// itself covers only its first thread.
fn switches_of(pid: u32) -> impl Fn(u32) -> Option<(u32, [u64; 2])> {
    move |thread| {
        let status = read_lossy(format!("/proc/{pid}/task/{thread}/status")).ok()?;
        let kinds = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
        let [voluntary, involuntary] = kinds.map(|label| number(&status, label));
        Some((thread, [voluntary?, involuntary?]))
    }
}
