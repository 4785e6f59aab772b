//! The reader: it reads three cycles per second, at random moments of the stored time range.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_contract::{EngineError, Result};
use embermark_data::machine::{History, Sample};
use embermark_meter::Stopwatch;
use embermark_model::result::Latency;
use serde::{Deserialize, Serialize};

use super::cycles::{Moments, QueryResults, ReadMethod, read};
use super::machine_log::{Form, Layout, MachineLog};
use super::sample_sink::SampleSink;
use crate::PhaseObserver;
use crate::arrivals::{InterleavedTask, Stamper};

/// Cycles read per second.
const SLOTS_PER_SECOND: u32 = 3;

/// Task of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    /// How cycles are read.
    pub reader: ReadMethod,
    /// How samples are stored.
    pub layout: Layout,
    /// Design of the tables or documents that store them.
    pub form: Form,
    /// First moment that can be drawn, in ns since 1970.
    pub from_ns: i64,
    /// First moment after the last that can be drawn.
    pub to_ns: i64,
    /// Seed of the moments.
    pub seed: u64,
    /// Time before the window.
    pub warm_up: Duration,
    /// Length of the window.
    pub window: Duration,
    /// Whether each slot also reads the newest sample, because a writer runs at the same time.
    pub live: bool,
}

/// A message of a reader.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ReaderMessage {
    /// The window begins.
    Open,
    /// The window is over.
    Close,
    /// The result.
    Done(Box<ReadResults>),
    /// The reader failed: whether the engine does not support the task, and the reason.
    Failed(bool, String),
}

/// Result of a reader, for its window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReadResults {
    /// Cycles read.
    pub reads: u64,
    /// Slots of a third of a second that passed because a read took longer than its own slot.
    pub missed: u64,
    /// Duration of reads.
    pub latency: Option<Latency>,
    /// Age of the newest sample that could be read.
    pub staleness: Option<Latency>,
    /// Answer for each moment.
    pub answers: Vec<Answer>,
}

/// A moment, in ns since 1970, and the cycle found around it.
pub(super) type Answer = (i64, Option<QueryResults>);

impl ReadResults {
    /// Reports everything that is part of a result.
    pub(super) fn report(&self, observer: &mut dyn PhaseObserver) {
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
    /// Creates the reads of a task.
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
            watch: Stopwatch::default(),
            staleness: Stopwatch::default(),
            clock: Stamper::new(),
        }
    }

    /// Begins the first slot now.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
    }

    fn end(&self) -> Duration {
        self.task.warm_up + self.task.window
    }

    /// Returns when a slot begins. One of them begins with the window.
    fn next_slot(&self) -> Duration {
        let third = Duration::from_secs(1) / SLOTS_PER_SECOND;
        let first = self.task.warm_up.as_nanos() % third.as_nanos();
        Duration::from_nanos(first as u64) + Duration::from_secs(1) * self.slot / SLOTS_PER_SECOND
    }

    /// Returns when the next slot begins, or `None` after the window.
    fn next(&self) -> Option<Instant> {
        let slot = self.next_slot();
        (slot < self.end()).then(|| self.began + slot)
    }

    /// Returns whether the window opens now. If so, earlier results are discarded.
    fn opens(&mut self) -> bool {
        let opens = !self.opened && self.next_slot() >= self.task.warm_up;
        if opens {
            self.opened = true;
            self.answers.clear();
            self.missed = 0;
            self.watch.reset();
            self.staleness.reset();
        }
        opens
    }

    /// Reads one cycle, and skips the slots that passed during the read.
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

    /// Counts the slots that have passed by `now` without a read, and continues with the first that
    /// has not. Slots after the window are not missed.
    fn leave_out_missed(&mut self, now: Duration) {
        let third = Duration::from_secs(1) / SLOTS_PER_SECOND;
        while self.next_slot() < self.end() && self.next_slot() + third <= now {
            self.missed += 1;
            self.slot += 1;
        }
    }

    /// Returns the result.
    pub(super) fn reads(self) -> ReadResults {
        let Self { answers, missed, watch, staleness, .. } = self;
        let reads = answers.len() as u64;
        ReadResults {
            reads,
            missed,
            latency: watch.latency(),
            staleness: staleness.latency(),
            answers,
        }
    }
}

/// Reads for the whole time of a task. `tell` is called when the window opens and closes.
pub(super) fn run(
    log: &mut dyn MachineLog,
    mut slots: Slots,
    mut tell: impl FnMut(ReaderMessage) -> io::Result<()>,
) -> Result<ReadResults> {
    let failed = |error: io::Error| EngineError::failed("the reader", "send a message", error);
    slots.begin();
    while let Some(next) = slots.next() {
        sleep(next.saturating_duration_since(Instant::now()));
        if slots.opens() {
            tell(ReaderMessage::Open).map_err(failed)?;
        }
        slots.read(log)?;
    }
    sleep((slots.began + slots.end()).saturating_duration_since(Instant::now()));
    if slots.opens() {
        tell(ReaderMessage::Open).map_err(failed)?;
    }
    tell(ReaderMessage::Close).map_err(failed)?;
    Ok(slots.reads())
}

/// Runs the reader in its own process. It sends lines of JSON, and ends only after its parent has
/// sampled its resource use.
pub(super) fn serve(
    task: Task,
    log: Result<Box<dyn MachineLog>>,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn Error>> {
    let mut tell = |message: &ReaderMessage| -> io::Result<()> {
        serde_json::to_writer(&mut *out, message)?;
        out.write_all(b"\n")?;
        out.flush()
    };
    let done = log.and_then(|mut log| {
        log.open()?;
        let reads = run(log.as_mut(), Slots::new(task), |message| {
            tell(&message)?;
            if matches!(message, ReaderMessage::Close) {
                // The parent samples it, and then sends a line.
                io::stdin().lock().read_line(&mut String::new())?;
            }
            Ok(())
        })?;
        log.close()?;
        Ok(reads)
    });
    match done {
        Ok(reads) => tell(&ReaderMessage::Done(Box::new(reads)))?,
        Err(error) => tell(&ReaderMessage::Failed(error.is_unsupported(), error.to_string()))?,
    }
    Ok(())
}

/// Reads between commits in the writer's process, for engines that allow only one process.
impl InterleavedTask<SampleSink<'_>> for Slots {
    fn due(&self) -> Option<Instant> {
        self.next()
    }

    fn turn(&mut self, sink: &mut SampleSink<'_>) -> Result<()> {
        self.opens();
        self.read(sink.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_lasts_beyond_the_window_misses_only_the_slots_of_the_window() {
        let task = Task {
            reader: ReadMethod::Individual,
            layout: Layout::Samples,
            form: Form::Own,
            from_ns: 0,
            to_ns: 1,
            seed: 1,
            warm_up: Duration::ZERO,
            window: Duration::from_secs(1),
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
