//! The machine workload on one database.

use std::time::Duration;

use embermark_contract::{EngineError, Join, Result};
use embermark_data::machine::{History, Sample, Signal};
use embermark_language::kind_of_machine;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::plan::Rate;
use embermark_model::result::Execution;

use super::companions::ReaderProcess;
use super::cycles::ReadMethod;
use super::machine_log::{Form, Layout, MachineLog};
use super::oracle::Oracle;
use super::reader::{self, ReadResults, ReaderMessage, Slots};
use super::sample_sink::{QUEUE, SampleSink, StoredSamples, stamped};
use super::{LIVE, PHASES, PreparedCell, READ, READ_BULK, READ_BULK1, SUSTAINED, WRITE};
use crate::arrivals::{
    self, InterleavedTask, Length, NoTask, Sensor, Sink as _, Stamper, Tally, Task, Window,
    WriteOutcome, Writer,
};
use crate::observer::no_companions;
use crate::{
    Bench, BenchPhase, CheckError, Companions, NoopObserver, Outcome, Passed, PhaseObserver, Spec,
};

/// Shortest history, in seconds. A history of few samples has a lower rate.
const LEAST_SECONDS: u64 = 4;

/// Largest number of samples to fill a store with before the highest rate is confirmed.
const MOST_FILLED: u64 = 5_000_000;

pub(super) struct MachineBench {
    phases: Vec<BenchPhase>,
    cell: PreparedCell,
    log: Box<dyn MachineLog>,
    join: Join,
    stored: Option<StoredSamples>,
    reads: Option<(ReadMethod, ReadResults)>,
    log_state: LogState,
}

/// Known content of the log.
enum LogState {
    /// Nothing.
    Unknown,
    /// Only the history.
    History,
    /// Only the samples that this trial wrote, after they were compared.
    WriteOutcome(Oracle),
}

impl MachineBench {
    pub(super) fn new(cell: PreparedCell, log: Box<dyn MachineLog>, join: Join) -> Self {
        let finds = log.search_execution().unwrap_or(Execution::ClientSide);
        let phases = PHASES.map(|name| {
            let execution = if name == READ { finds } else { Execution::Native };
            let kind = kind_of_machine(&cell.spec.variant, name);
            BenchPhase { name, ops: 0, execution, kind }
        });
        let phases = phases.to_vec();
        let log_state = LogState::Unknown;
        Self { phases, cell, log, join, stored: None, reads: None, log_state }
    }

    fn rate(&self) -> u64 {
        match self.cell.spec.rate {
            Rate::PerSecond(rate) => rate,
            Rate::Max => arrivals::FIRST,
        }
    }

    /// Returns the samples per second of the history.
    fn history_rate(&self) -> u64 {
        self.rate().min(self.cell.samples / LEAST_SECONDS).max(1)
    }

    fn history(&self) -> History {
        History::new(self.cell.spec.seed, self.history_rate(), self.cell.samples)
    }

    /// Returns the oracle of the history.
    fn history_oracle(&self) -> Oracle {
        Oracle::history(self.history(), self.history_rate(), self.log.unit_ns())
    }

    fn companions(&self) -> Result<&dyn Companions> {
        self.cell.spec.companions.as_deref().ok_or_else(no_companions)
    }

    /// Returns the sensor's task for a window at a rate. A writer that commits once per second has a
    /// window from commit to commit, with at least two commits.
    fn task(&self, rate: u64, warm_up: Duration, window: Duration) -> Task {
        let window = match self.cell.layout {
            Layout::Samples => window,
            Layout::Seconds => window.max(Duration::from_secs(2)),
        };
        Task::new(rate, warm_up, window)
    }

    /// Returns the task for the cell's window, after its warm-up.
    fn whole_task(&self, rate: u64) -> Task {
        let Spec { warm_up, window, .. } = self.cell.spec;
        self.task(rate, warm_up, window)
    }

    /// Returns the task for a window whose samples will be read, and which is long enough for that.
    fn writing_task(&self, rate: u64) -> Task {
        let Spec { warm_up, window, .. } = self.cell.spec;
        let least = match self.cell.form {
            Form::Own => Duration::ZERO,
            Form::Published => Duration::from_secs(LEAST_SECONDS).saturating_sub(warm_up),
        };
        self.task(rate, warm_up, window.max(least))
    }

    fn writing(
        &mut self,
        task: Task,
        observer: &mut dyn PhaseObserver,
        interleaved: &mut dyn for<'a> InterleavedTask<SampleSink<'a>>,
    ) -> Result<StoredSamples> {
        self.log_state = LogState::Unknown;
        observer.begin(Duration::from_secs_f64(task.end as f64 / task.rate as f64));
        let task_json = serde_json::to_string(&(task, self.cell.spec.seed))
            .map_err(|error| EngineError::failed("the sensor", "receive its task", error))?;
        let (sensor, queue) = Sensor::start(self.companions()?, &task_json, QUEUE)?;
        observer.process(arrivals::SENSOR, sensor.pid());
        let mut sink = SampleSink::new(self.log.as_mut());
        let (window, tally) = (Window::new(&mut *observer), Tally::new(task));
        let writer = Writer { sink: &mut sink, sensor, window, interleaved, tally };
        let written = match self.cell.layout {
            Layout::Samples => writer.by_count(queue, 1),
            Layout::Seconds => {
                let mut stamper = Stamper::new();
                let arrived = move |_, payload: &[u8]| stamped(&mut stamper, payload);
                writer.by_time(queue, arrived, |first, next| first.at.s != next.at.s)
            }
        }?;
        let stored = sink.stored(written);
        observer.end();
        Ok(stored)
    }

    fn write(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let stored = self.writing(self.writing_task(self.rate()), observer, &mut NoTask)?;
        stored.written.report(observer);
        let measured = stored.written.measured();
        self.stored = Some(stored);
        Ok(measured)
    }

    fn reading(&self, reader: ReadMethod, oracle: &Oracle, live: bool) -> Result<reader::Task> {
        let moments = oracle.moments()?;
        Ok(reader::Task {
            reader,
            layout: self.cell.layout,
            form: self.cell.form,
            from_ns: moments.start,
            to_ns: moments.end,
            seed: self.cell.spec.seed,
            warm_up: self.cell.spec.warm_up,
            window: self.cell.spec.window,
            live,
        })
    }

    /// Starts a reader in its own process.
    fn reader(
        &self,
        task: &reader::Task,
        at: &str,
        observer: &mut dyn PhaseObserver,
    ) -> Result<ReaderProcess> {
        let process = ReaderProcess::start(self.companions()?, task, at)?;
        observer.process("reader", process.pid());
        Ok(process)
    }

    fn read(&mut self, reader: ReadMethod, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let task = match (&self.log_state, self.cell.form) {
            (LogState::WriteOutcome(oracle), _) => self.reading(reader, oracle, false),
            (_, Form::Own) => self.reading(reader, &self.history_oracle(), false),
            (_, Form::Published) => Err(EngineError::unsupported(
                "this trial",
                "reading the samples of `write`, which did not run: choose it as well \
                 (--phases write,read_individual,…)",
            )),
        }?;
        let slots = Slots::new(task);
        let reads = match &self.join {
            Join::Exclusive(why) => {
                observer.remark(&in_this_process(why));
                reader::run(self.log.as_mut(), slots, |message| {
                    match message {
                        ReaderMessage::Open => observer.open(),
                        ReaderMessage::Close => observer.close(),
                        _ => {}
                    }
                    Ok(())
                })?
            }
            Join::At(at) => {
                let reader = self.reader(&task, at, observer)?;
                reader.reads(self.log.as_mut(), Window::new(observer))?
            }
        };
        reads.report(observer);
        let elapsed_ns = self.cell.spec.window.as_nanos() as u64;
        let measured = Measured { elapsed_ns, ops: reads.reads, capped: false };
        self.reads = Some((reader, reads));
        Ok(measured)
    }

    /// Writes while cycles of the history are read.
    fn live(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let reader = match self.cell.layout {
            Layout::Samples => ReadMethod::Individual,
            Layout::Seconds => ReadMethod::Bulk,
        };
        let reading = self.reading(reader, &self.history_oracle(), true)?;
        let mut slots = Slots::new(reading);
        let task = self.whole_task(self.rate());
        let (stored, reads) = match self.join.clone() {
            Join::Exclusive(why) => {
                observer.remark(&in_this_process(why));
                slots.begin();
                let stored = self.writing(task, observer, &mut slots)?;
                (stored, slots.reads())
            }
            Join::At(at) => {
                let reader = self.reader(&reading, &at, observer)?;
                let stored = self.writing(task, observer, &mut NoTask)?;
                // The reader's window is the writer's.
                let reads = reader.reads(self.log.as_mut(), Window::new(&mut NoopObserver))?;
                (stored, reads)
            }
        };
        stored.written.report(observer);
        reads.report(observer);
        self.reads = Some((reader, reads));
        Ok(stored.written.measured())
    }

    /// Searches for the highest rate on an empty store, and confirms it on a store that already
    /// has as many samples as the window writes.
    fn sustained(&mut self, observer: &mut dyn PhaseObserver) -> Result<Measured> {
        let Spec { window, p99_limit, .. } = self.cell.spec;
        let (found, kept) = arrivals::highest(window, p99_limit, |rate, length| {
            self.log.clear()?;
            Ok(self.attempt(rate, length))
        })?;
        found.report(SampleSink::ROWS, observer);
        let Some(written) = kept else { return Ok(Measured::default()) };
        observer.count("filled", filled(written.tally.task));
        written.report(observer);
        Ok(written.measured())
    }

    /// Writes at a rate into the empty store.
    fn attempt(&mut self, rate: u64, length: Length) -> Result<WriteOutcome> {
        let task = match length {
            Length::Short(warm_up, window) => self.task(rate, warm_up, window),
            Length::Whole => {
                let task = self.whole_task(rate);
                self.log.load(&History::new(self.cell.spec.seed, rate, filled(task)))?;
                self.log.lifecycle().maintain()?;
                task
            }
        };
        self.writing(task, &mut NoopObserver, &mut NoTask).map(|stored| stored.written)
    }
}

/// Returns the number of samples to fill a store with before such a window.
fn filled(task: Task) -> u64 {
    task.rows().min(MOST_FILLED)
}

fn in_this_process(why: &str) -> String {
    format!("the process that has the database open also read the cycles: {why}")
}

impl Bench for MachineBench {
    fn phases(&self) -> &[BenchPhase] {
        &self.phases
    }

    fn lasts(&self, _: usize) -> bool {
        true
    }

    fn ready(&mut self, phase: usize) -> Result<()> {
        (self.stored, self.reads) = (None, None);
        match (self.phases[phase].name, self.cell.form) {
            (WRITE | SUSTAINED, _) => {
                self.log_state = LogState::Unknown;
                return self.log.clear();
            }
            (READ | READ_BULK | READ_BULK1, Form::Published) => return Ok(()),
            _ if matches!(self.log_state, LogState::History) => return Ok(()),
            _ => {}
        }
        self.log.clear()?;
        self.log.load(&self.history())?;
        self.log.lifecycle().maintain()?;
        self.log_state = LogState::History;
        Ok(())
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Outcome> {
        self.observe(phase, meter, &mut NoopObserver)
    }

    fn observe(
        &mut self,
        phase: usize,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Outcome> {
        let measured = match self.phases[phase].name {
            WRITE => self.write(observer),
            READ => self.read(ReadMethod::Individual, observer),
            READ_BULK => self.read(ReadMethod::Bulk, observer),
            READ_BULK1 => self.read(ReadMethod::BulkAngles, observer),
            LIVE => self.live(observer),
            _ => self.sustained(observer),
        }?;
        meter.set_measured(measured);
        Ok(Answer::Count(measured.ops).into())
    }

    fn check(
        &mut self,
        _: usize,
        _: &Outcome,
        _: Measured,
    ) -> std::result::Result<Passed, CheckError> {
        let mut wrong = None;
        if let Some(stored) = self.stored.take() {
            let (signal, rate) = (Signal::new(self.cell.spec.seed, self.rate()), self.rate());
            let (will_be_read, mut times) = (self.cell.form == Form::Published, Vec::new());
            let mut tell = |at| times.extend(will_be_read.then_some(at));
            wrong = stored.check(self.log.as_mut(), &signal, &mut tell)?;
            if will_be_read && wrong.is_none() {
                let (unit_ns, numbers) = (self.log.unit_ns(), &stored.written.tally.runs);
                let oracle = Oracle::written(signal, rate, unit_ns, times, numbers);
                self.log_state = LogState::WriteOutcome(oracle);
            }
        }
        if let Some((reader, ReadResults { answers, .. })) = self.reads.take() {
            wrong = match &self.log_state {
                LogState::WriteOutcome(oracle) => oracle.wrong(reader, &answers),
                _ => self.history_oracle().wrong(reader, &answers),
            };
        }
        match wrong {
            Some(wrong) => Err(Difference(wrong).into()),
            None => Ok(Passed::default()),
        }
    }

    /// Counts the samples of the window. A search for the highest rate has many windows.
    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        matches!(self.phases[phase].name, WRITE | LIVE).then_some(ops * Sample::VALUE_BYTES)
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        self.log.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<()> {
        self.log.lifecycle().maintain()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.log.lifecycle().maintain()?;
        self.log.close()
    }
}
