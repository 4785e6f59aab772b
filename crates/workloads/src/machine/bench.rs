//! The machine on one database.

use std::io::{self, BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use embermark_contract::{EngineError, Join, Result};
use embermark_data::machine::{History, Sample, Signal};
use embermark_meter::{Measured, Meter, Stopwatch};
use embermark_model::answer::{Answer, Difference};
use embermark_model::plan::Rate;
use embermark_model::result::Execution;

use super::checkpoints::Checkpoints;
use super::cycles::Reader;
use super::port::{Layout, MachineLog};
use super::reader::{self, Reads, Slots, Word};
use super::sensor::Task;
use super::sustained;
use super::writer::{Aside, Nothing, Sensor, Writer, Written};
use super::{LIVE, PreparedCell, READ, READ_BULK, READ_BULK1, SUSTAINED, WRITE};
use crate::{Bench, CheckError, Companions, NoopObserver, OpenedPhase, PhaseObserver};

/// Samples a second where the highest rate is looked for, of the history that readers have.
const USUAL_RATE: u64 = 1_000;

/// A history covers at least so many seconds: one of few samples has been taken more slowly.
const LEAST_SECONDS: u64 = 4;

pub(super) struct MachineBench {
    phases: Vec<OpenedPhase>,
    cell: PreparedCell,
    log: Box<dyn MachineLog>,
    join: Join,
    written: Option<Written>,
    reads: Option<Reads>,
    /// Whether the log holds the history and nothing else.
    holds_history: bool,
}

impl MachineBench {
    pub(super) fn new(cell: PreparedCell, log: Box<dyn MachineLog>, join: Join) -> Self {
        let phase = |name: &'static str| {
            let execution = if name == READ { log.finds() } else { Execution::Native };
            OpenedPhase { name, ops: 0, execution }
        };
        let phases = [WRITE, READ, READ_BULK, READ_BULK1, LIVE, SUSTAINED].map(phase).to_vec();
        Self { phases, cell, log, join, written: None, reads: None, holds_history: false }
    }

    fn rate(&self) -> u64 {
        match self.cell.spec.rate {
            Rate::PerSecond(rate) => rate,
            Rate::Max => USUAL_RATE,
        }
    }

    /// Samples a second of the history.
    fn history_rate(&self) -> u64 {
        self.rate().min(self.cell.samples / LEAST_SECONDS).max(1)
    }

    fn companions(&self) -> Result<&dyn Companions> {
        self.cell.spec.companions.as_deref().ok_or_else(|| {
            EngineError::unsupported("this program", "starting processes that take part in a phase")
        })
    }

    /// What a sensor is told of a window at a rate. A window of a writer that commits by the second
    /// goes from commit to commit: it has two of them at least.
    fn task(&self, rate: u64, warm_up: Duration, window: Duration) -> Task {
        let samples =
            |time: Duration| (time.as_nanos() * u128::from(rate)).div_ceil(1_000_000_000) as u64;
        let window = match self.cell.layout {
            Layout::Samples => window,
            Layout::Seconds => window.max(Duration::from_secs(2)),
        };
        let first = samples(warm_up);
        Task { rate, seed: self.cell.seed, first, end: first + samples(window).max(1) }
    }

    fn writing(
        &mut self,
        task: Task,
        observer: &mut dyn PhaseObserver,
        aside: &mut dyn Aside,
    ) -> Result<(Written, Stopwatch)> {
        self.holds_history = false;
        let (sensor, queue) = Sensor::start(self.companions()?, task)?;
        observer.process("sensor", sensor.pid());
        let mut commits = Stopwatch::new();
        let log = self.log.as_mut();
        let layout = self.cell.layout;
        let writer = Writer { log, layout, sensor, task, commits: &mut commits, observer, aside };
        let written = writer.run(queue)?;
        Ok((written, commits))
    }

    fn write(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let (warm_up, window) = (self.cell.spec.warm_up, self.cell.spec.window);
        let task = self.task(self.rate(), warm_up, window);
        let (written, commits) = self.writing(task, observer, &mut Nothing)?;
        tell(&written, &commits, observer);
        let measured = measured(&written);
        self.written = Some(written);
        Ok(measured)
    }

    fn reading(&self, reader: Reader, live: bool) -> reader::Task {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        reader::Task {
            reader: reader.number(),
            seconds: self.cell.layout == Layout::Seconds,
            history: self.cell.samples,
            rate: self.history_rate(),
            seed: self.cell.seed,
            warm_up_ns: nanoseconds(self.cell.spec.warm_up),
            window_ns: nanoseconds(self.cell.spec.window),
            live,
        }
    }

    fn slots(&self, task: reader::Task) -> Result<Slots> {
        Slots::new(task).map_err(|rate| reader::too_slow(task.rate, rate))
    }

    fn read(&mut self, reader: Reader, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let task = self.reading(reader, false);
        let slots = self.slots(task)?;
        let reads = match &self.join {
            Join::Exclusive(why) => {
                observer.remark(&in_this_process(why));
                let watched = |word: Word| {
                    match word {
                        Word::Open => observer.open(),
                        Word::Close => observer.close(),
                        _ => {}
                    }
                    Ok(())
                };
                reader::run(self.log.as_mut(), slots, watched)?
            }
            Join::At(at) => {
                let mut process = ReaderProcess::start(self.companions()?, &task, at)?;
                observer.process("reader", process.child.id());
                let mut checkpoints = None;
                loop {
                    match process.word()? {
                        Word::Open => {
                            checkpoints = Some(Checkpoints::before(self.log.as_mut())?);
                            observer.open();
                        }
                        Word::Close => {
                            observer.close();
                            process.go_on();
                            if let Some(checkpoints) = checkpoints.take() {
                                checkpoints.tell(self.log.as_mut(), observer)?;
                            }
                        }
                        Word::Done(reads) => break *reads,
                        Word::Failed(unsupported, why) => return Err(refused(unsupported, why)),
                    }
                }
            }
        };
        told(&reads, observer);
        let measured = Measured {
            elapsed_ns: self.cell.spec.window.as_nanos() as u64,
            ops: reads.reads,
            capped: false,
        };
        self.reads = Some(reads);
        Ok(measured)
    }

    /// Writes as ever while cycles of the history are read.
    fn live(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let reader = match self.cell.layout {
            Layout::Samples => Reader::Individual,
            Layout::Seconds => Reader::Bulk,
        };
        let reading = self.reading(reader, true);
        let mut slots = self.slots(reading)?;
        let task = self.task(self.rate(), self.cell.spec.warm_up, self.cell.spec.window);
        let (written, commits, reads) = match self.join.clone() {
            Join::Exclusive(why) => {
                observer.remark(&in_this_process(why));
                slots.begin();
                let (written, commits) = self.writing(task, observer, &mut slots)?;
                (written, commits, slots.reads())
            }
            Join::At(at) => {
                let mut process = ReaderProcess::start(self.companions()?, &reading, &at)?;
                observer.process("reader", process.child.id());
                let (written, commits) = self.writing(task, observer, &mut Nothing)?;
                let reads = loop {
                    match process.word()? {
                        Word::Open => {}
                        Word::Close => process.go_on(),
                        Word::Done(reads) => break *reads,
                        Word::Failed(unsupported, why) => return Err(refused(unsupported, why)),
                    }
                };
                (written, commits, reads)
            }
        };
        tell(&written, &commits, observer);
        told(&reads, observer);
        let measured = measured(&written);
        self.reads = Some(reads);
        Ok(measured)
    }

    /// Looks for the highest rate.
    fn sustained(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let limit = self.cell.spec.p99_limit;
        let (warm_up, window) = sustained::times(self.cell.spec.window);
        let mut last = None;
        let found = sustained::search(|rate| {
            self.log.clear()?;
            let task = self.task(rate, warm_up, window);
            let (written, commits) = match self.writing(task, &mut NoopObserver, &mut Nothing) {
                Ok(done) => done,
                // A second of so many samples may be more than an engine takes in one commit. One
                // that is broken does not get past the next clear.
                Err(error) if !error.is_unsupported() => {
                    return Ok(Err(sustained::Failure::Refused(error.to_string())));
                }
                Err(error) => return Err(error),
            };
            let trial = sustained::judge(&written, commits.latency().as_ref(), limit, rate);
            if trial.is_ok() {
                last = Some((written, commits));
            }
            Ok(trial)
        })?;
        for remark in &found.remarks {
            observer.remark(remark);
        }
        observer.count("sustained-rate", found.rate);
        let Some((written, commits)) = last else { return Ok(Measured::default()) };
        tell(&written, &commits, observer);
        Ok(measured(&written))
    }
}

fn in_this_process(why: &str) -> String {
    format!("cycles were read in the process that has the database open: {why}")
}

fn refused(unsupported: bool, why: String) -> EngineError {
    match unsupported {
        true => EngineError::unsupported("the reader's process", why),
        false => EngineError::failed("the reader's process", "read cycles", why),
    }
}

const fn measured(written: &Written) -> Measured {
    Measured { elapsed_ns: written.window.as_nanos() as u64, ops: written.samples, capped: false }
}

fn tell(written: &Written, commits: &Stopwatch, observer: &mut dyn PhaseObserver) {
    observer.count("samples", written.samples);
    observer.count("lost", written.lost);
    observer.count("lost-ever", written.lost_ever);
    observer.count("deadline-misses", written.account.missed);
    observer.count("latest-ns", written.account.latest_ns);
    if let Some(latency) = commits.latency() {
        observer.latency("commit", latency);
    }
}

fn told(reads: &Reads, observer: &mut dyn PhaseObserver) {
    observer.count("reads", reads.reads);
    observer.count("missed-slots", reads.missed);
    for (name, latency) in [("read", &reads.latency), ("staleness", &reads.staleness)] {
        if let Some(latency) = latency {
            observer.latency(name, latency.clone());
        }
    }
}

/// A reader in a process of its own.
struct ReaderProcess {
    child: Child,
    words: Receiver<io::Result<Word>>,
}

impl ReaderProcess {
    fn start(companions: &dyn Companions, task: &reader::Task, at: &str) -> Result<Self> {
        let failed = |error| EngineError::failed("the reader's process", "start", error);
        let text = serde_json::to_string(task).map_err(|error| failed(error.to_string()))?;
        let mut child = companions
            .start("reader", &text, Some(at))
            .map_err(|error| failed(error.to_string()))?;
        let (tell, words) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines() {
                    let word = line.and_then(|line| Ok(serde_json::from_str(&line)?));
                    if tell.send(word).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, words })
    }

    fn word(&mut self) -> Result<Word> {
        let ended = |why: String| EngineError::failed("the reader's process", "read cycles", why);
        match self.words.recv() {
            Ok(word) => word.map_err(|error| ended(error.to_string())),
            Err(_) => Err(ended(match self.child.wait() {
                Ok(status) => format!("it ended with {status}"),
                Err(error) => error.to_string(),
            })),
        }
    }

    fn go_on(&mut self) {
        // One that has died is told of by its silence.
        let _ = self.child.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
    }
}

impl Drop for ReaderProcess {
    fn drop(&mut self) {
        // It ends by itself when all went well.
        self.child.stdin = None;
        let began = std::time::Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if began.elapsed() > Duration::from_secs(2) {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Bench for MachineBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn lasts(&self, _: usize) -> bool {
        true
    }

    fn ready(&mut self, phase: usize) -> Result<()> {
        (self.written, self.reads) = (None, None);
        if matches!(self.phases[phase].name, WRITE | SUSTAINED) {
            self.holds_history = false;
            return self.log.clear();
        }
        if self.holds_history {
            return Ok(());
        }
        self.log.clear()?;
        self.log.load(&History::new(self.cell.seed, self.history_rate(), self.cell.samples))?;
        self.log.maintain()?;
        self.holds_history = true;
        Ok(())
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer> {
        self.observe(phase, meter, &mut NoopObserver)
    }

    fn observe(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer> {
        let measured = match self.phases[phase].name {
            WRITE => self.write(observer),
            READ => self.read(Reader::Individual, observer),
            READ_BULK => self.read(Reader::Bulk, observer),
            READ_BULK1 => self.read(Reader::BulkAngles, observer),
            LIVE => self.live(observer),
            _ => self.sustained(observer),
        }?;
        meter.lasted(measured);
        Ok(Answer::Count(measured.ops))
    }

    fn check(&mut self, _: usize, _: &Answer, _: Measured) -> std::result::Result<(), CheckError> {
        let mut wrong = None;
        if let Some(written) = self.written.take() {
            let signal = Signal::new(self.cell.seed, self.rate());
            wrong = written.check(self.log.as_mut(), &signal)?;
        }
        let read = self.reads.take().and_then(|reads| reads.wrong);
        match wrong.or(read) {
            Some(wrong) => Err(Difference(wrong).into()),
            None => Ok(()),
        }
    }

    /// Of the samples of the window. A search for the highest rate has many.
    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        matches!(self.phases[phase].name, WRITE | LIVE).then_some(ops * Sample::VALUE_BYTES)
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        self.log.maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.log.maintain()?;
        self.log.close()
    }
}
