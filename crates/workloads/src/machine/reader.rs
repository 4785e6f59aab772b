//! The reader: three cycles a second, at moments drawn from what is stored.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{History, Sample};
use embermark_meter::Stopwatch;
use embermark_model::result::Latency;
use serde::{Deserialize, Serialize};

use super::cycles::{Moments, QueryResults, Reader, read};
use super::port::{Form, Layout, MachineLog};
use super::storing::Storing;
use crate::PhaseObserver;
use crate::arrivals::{Aside, Stamper};

/// Cycles read a second.
const SLOTS_PER_SECOND: u32 = 3;

/// What a reader is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    /// Which of the ways.
    pub reader: Reader,
    /// How samples lie in the store.
    pub layout: Layout,
    /// In which tables or documents.
    pub form: Form,
    /// The first moment of those that may be drawn, in ns since 1970.
    pub from_ns: i64,
    /// The first one after the last of them.
    pub to_ns: i64,
    /// Seed of the moments.
    pub seed: u64,
    /// Before the window, in ns.
    pub warm_up_ns: u64,
    /// The window, in ns.
    pub window_ns: u64,
    /// Whether the newest sample is asked for in each slot: somebody writes meanwhile.
    pub live: bool,
}

/// What a reader tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// The window begins.
    Open,
    /// The window is over.
    Close,
    /// What came of it.
    Done(Box<Reads>),
    /// It cannot go on: whether that is because the engine cannot do it, and why.
    Failed(bool, String),
}

/// What a reader has done in its window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reads {
    /// Cycles read.
    pub reads: u64,
    /// Slots of a third of a second that passed while a read went on beyond its own.
    pub missed: u64,
    /// How long a read took.
    pub latency: Option<Latency>,
    /// How old the newest sample was that could be read.
    pub staleness: Option<Latency>,
    /// What was found.
    pub answers: Vec<Answer>,
}

/// What was found for a moment, which is in ns since 1970.
pub(super) type Answer = (i64, Option<QueryResults>);

impl Reads {
    /// Tells all of it that stands in a result.
    pub(super) fn tell(&self, observer: &mut dyn PhaseObserver) {
        observer.count("reads", self.reads);
        observer.count("missed-slots", self.missed);
        for (name, latency) in [("read", &self.latency), ("staleness", &self.staleness)] {
            if let Some(latency) = latency {
                observer.latency(name, latency.clone());
            }
        }
    }
}

/// Reads slot by slot.
pub(super) struct Slots {
    task: Task,
    moments: Moments,
    began: Instant,
    slot: u32,
    opened: bool,
    buffer: Vec<Sample>,
    answers: Vec<Answer>,
    missed: u64,
    watch: Stopwatch,
    staleness: Stopwatch,
    clock: Stamper,
}

impl Slots {
    /// Reads of a task.
    pub(super) fn new(task: Task) -> Self {
        Self {
            task,
            moments: Moments::new(task.from_ns..task.to_ns, task.seed),
            began: Instant::now(),
            slot: 0,
            opened: false,
            buffer: Vec::new(),
            answers: Vec::new(),
            missed: 0,
            watch: Stopwatch::new(),
            staleness: Stopwatch::new(),
            clock: Stamper::new(),
        }
    }

    /// Begins with the first slot now.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
    }

    const fn warm_up(&self) -> Duration {
        Duration::from_nanos(self.task.warm_up_ns)
    }

    const fn end(&self) -> Duration {
        Duration::from_nanos(self.task.warm_up_ns + self.task.window_ns)
    }

    /// When a slot begins: one of them with the window.
    fn next_slot(&self) -> Duration {
        let third = Duration::from_secs(1) / SLOTS_PER_SECOND;
        let first = self.task.warm_up_ns % third.as_nanos() as u64;
        Duration::from_nanos(first) + Duration::from_secs(1) * self.slot / SLOTS_PER_SECOND
    }

    /// When the next slot begins; `None` when the window is over.
    fn next(&self) -> Option<Instant> {
        let slot = self.next_slot();
        (slot < self.end()).then(|| self.began + slot)
    }

    /// Whether the window is about to open: then what came before is forgotten.
    fn opens(&mut self) -> bool {
        let opens = !self.opened && self.next_slot() >= self.warm_up();
        if opens {
            self.opened = true;
            self.answers.clear();
            self.missed = 0;
            self.watch.reset();
            self.staleness.reset();
        }
        opens
    }

    /// Reads one cycle, and leaves out the slots that passed meanwhile.
    fn read(&mut self, log: &mut dyn MachineLog) -> Result<()> {
        if self.task.live {
            let newest = log.newest()?;
            if let Some(newest) = newest.filter(|newest| newest.s > History::BEGIN.s + 1_000_000) {
                let age = self.clock.now().nanoseconds() - newest.nanoseconds();
                self.staleness.record(age.max(0).cast_unsigned());
            }
        }
        let at = self.moments.next();
        let Self { watch, task, buffer, .. } = self;
        let found = watch.time(|| read(log, task.reader, at, buffer))?;
        self.answers.push((at.nanoseconds(), found));
        self.slot += 1;
        self.leave_out_missed(self.began.elapsed());
        Ok(())
    }

    /// Counts the slots that have passed by `now` without a read, and goes on to the first that has not. Slots after
    /// the window are not missed.
    fn leave_out_missed(&mut self, now: Duration) {
        let third = Duration::from_secs(1) / SLOTS_PER_SECOND;
        while self.next_slot() < self.end() && self.next_slot() + third <= now {
            self.missed += 1;
            self.slot += 1;
        }
    }

    /// What came of it.
    pub(super) fn reads(self) -> Reads {
        let Self { answers, missed, watch, staleness, .. } = self;
        let reads = answers.len() as u64;
        Reads { reads, missed, latency: watch.latency(), staleness: staleness.latency(), answers }
    }
}

/// Reads for the whole of a task's time. `tell` hears when the window opens and closes.
pub(super) fn run(
    log: &mut dyn MachineLog,
    mut slots: Slots,
    mut tell: impl FnMut(Word) -> io::Result<()>,
) -> Result<Reads> {
    let told = |error: io::Error| EngineError::failed("the reader", "tell of itself", error);
    slots.begin();
    while let Some(next) = slots.next() {
        sleep(next.saturating_duration_since(Instant::now()));
        if slots.opens() {
            tell(Word::Open).map_err(told)?;
        }
        slots.read(log)?;
    }
    sleep((slots.began + slots.end()).saturating_duration_since(Instant::now()));
    if slots.opens() {
        tell(Word::Open).map_err(told)?;
    }
    tell(Word::Close).map_err(told)?;
    Ok(slots.reads())
}

/// The reader as a process of its own: tells by lines of JSON, and lives until its parent has looked
/// at what it used.
pub(super) fn serve(
    task: Task,
    log: Result<Box<dyn MachineLog>>,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn Error>> {
    let mut tell = |word: &Word| -> io::Result<()> {
        serde_json::to_writer(&mut *out, word)?;
        out.write_all(b"\n")?;
        out.flush()
    };
    let done = log.and_then(|mut log| {
        log.open()?;
        let reads = run(log.as_mut(), Slots::new(task), |word| {
            tell(&word)?;
            if matches!(word, Word::Close) {
                // The parent takes its readings, and then says so.
                io::stdin().lock().read_line(&mut String::new())?;
            }
            Ok(())
        })?;
        log.close()?;
        Ok(reads)
    });
    match done {
        Ok(reads) => tell(&Word::Done(Box::new(reads)))?,
        Err(error) => tell(&Word::Failed(error.is_unsupported(), error.to_string()))?,
    }
    Ok(())
}

/// Reading beside the writing in one process, for an engine that lets no second one in.
impl Aside<Storing<'_>> for Slots {
    fn due(&self) -> Option<Instant> {
        self.next()
    }

    fn turn(&mut self, storing: &mut Storing<'_>) -> Result<()> {
        self.opens();
        self.read(storing.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_lasts_beyond_the_window_misses_the_slots_of_the_window_alone() {
        let second_ns = 1_000_000_000;
        let task = Task {
            reader: Reader::Individual,
            layout: Layout::Samples,
            form: Form::Own,
            from_ns: 0,
            to_ns: 1,
            seed: 1,
            warm_up_ns: 0,
            window_ns: second_ns,
            live: false,
        };
        for (milliseconds, missed) in [(10, 0), (667, 1), (999, 1), (1_000, 2), (60_000, 2)] {
            let mut slots = Slots::new(task);
            slots.slot = 1;
            slots.leave_out_missed(Duration::from_millis(milliseconds));
            assert_eq!(slots.missed, missed, "{milliseconds} ms");
            assert_eq!(slots.next().is_none(), missed == 2, "{milliseconds} ms");
        }
    }
}
