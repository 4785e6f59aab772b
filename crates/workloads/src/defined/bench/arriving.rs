//! Phases with rows that a sensor makes at a rate, and phases that keep a window of rows.

use std::sync::Arc;
use std::time::Duration;

use embermark_contract::{EngineError, Result};
use embermark_language::{Arrive, Keep};
use embermark_meter::{Kind, Measured, Meter};
use embermark_model::answer::Answer;
use embermark_model::fingerprint::Checksum;
use embermark_model::plan::Rate;

use super::super::arrive::{TableSink, rows_of_commit};
use super::super::fingerprint;
use super::super::keep::{Calendar, Content, KeepOutcome, KeepParameters, KeepRunner};
use super::judge::unexpected;
use super::{FileBench, TableState};
use crate::arrivals::{
    self, Length, NoTask, Sensor, Shape, Sink as _, Tally, Task, Window, WriteOutcome, Writer,
};
use crate::observer::no_companions;
use crate::{CheckError, NoopObserver, PhaseObserver};

/// Share of the measured time that precedes it as a warm-up, and its limit.
const WARM_UP: (u32, Duration) = (10, Duration::from_secs(5));

impl FileBench {
    /// Loads the table, and prepares the insert.
    pub(super) fn ready_to_arrive(&mut self, phase: usize, arrive: &Arrive) -> Result<()> {
        self.arrived = None;
        self.lay_out(&[], false);
        self.make_ready()?;
        self.cell().begin();
        let ready = self.database.ready(arrive.insert, phase);
        self.unless_refused(ready).map(drop)
    }

    /// Stores rows that arrive at the rate, or at the highest rate that is found.
    pub(super) fn arrive(
        &mut self,
        phase: usize,
        arrive: &Arrive,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer> {
        let written = if self.prepared.spec.rate == Rate::Max {
            self.highest_rate(phase, arrive, observer)?
        } else {
            let rate = self.prepared.spec.target_rate.unwrap_or(arrive.rate);
            Some(self.store(arrive, whole(arrive, rate), observer)?)
        };
        let measured = written.as_ref().map_or_else(Measured::default, WriteOutcome::measured);
        written.iter().for_each(|written| written.report(observer));
        meter.set_measured(measured);
        Ok(Answer::Count(measured.ops))
    }

    /// Searches for the highest rate, with each attempt on a table of exactly its rows.
    fn highest_rate(
        &mut self,
        phase: usize,
        arrive: &Arrive,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Option<WriteOutcome>> {
        let limit = self.prepared.spec.p99_limit;
        let (found, kept) = arrivals::highest(arrive.lasts, limit, |rate, length| {
            self.ready_to_arrive(phase, arrive)?;
            let task = match length {
                Length::Short(warm_up, window) => Task::new(rate, warm_up, window),
                Length::Whole => whole(arrive, rate),
            };
            Ok(self.store(arrive, task, &mut NoopObserver))
        })?;
        found.report(TableSink::ROWS, observer);
        let loaded = self.cell().tables[arrive.table].loaded as u64;
        kept.iter().for_each(|_| observer.count("filled", loaded));
        Ok(kept)
    }

    /// Starts a sensor, and stores its rows.
    fn store(
        &mut self,
        arrive: &Arrive,
        task: Task,
        observer: &mut dyn PhaseObserver,
    ) -> Result<WriteOutcome> {
        (self.table_states[arrive.table], self.maintained) = (TableState::Else, false);
        let Self { prepared, database, arena, .. } = self;
        let companions = prepared.spec.companions.as_deref().ok_or_else(no_companions)?;
        observer.begin(Duration::from_secs_f64(task.end as f64 / task.rate as f64));
        let shape = Shape::of_rows(arrive.queue);
        let task_json = serde_json::to_string(&(task, shape))
            .map_err(|error| EngineError::failed("the sensor", "receive its task", error))?;
        let (sensor, queue) = Sensor::start(companions, &task_json, shape)?;
        observer.process(arrivals::SENSOR, sensor.pid());
        let cell = Arc::clone(&prepared.cell);
        let mut sink = TableSink::new(&cell, arrive, &mut **database, arena);
        let (window, tally) = (Window::new(&mut *observer), Tally::new(task));
        let interleaved = &mut NoTask;
        let writer = Writer { sink: &mut sink, sensor, window, interleaved, tally };
        let written = match rows_of_commit(&cell, arrive) {
            Some(rows) => writer.by_count(queue, rows),
            None => {
                let collect = arrive.collect.unwrap_or(Duration::from_secs(1));
                let rows = Arrive::rows_in(collect, task.rate);
                let parts = move |first: &u64, next: &u64| first / rows != next / rows;
                writer.by_time(queue, |number, _| number, parts)
            }
        }?;
        observer.end();
        self.arrived = Some(written.tally.stored);
        Ok(written)
    }

    /// Compares the whole table with the loaded rows and those stored after them.
    pub(super) fn judge_arrived(&mut self, arrive: &Arrive) -> std::result::Result<(), CheckError> {
        let Some(stored) = self.arrived.take() else { return Ok(()) };
        let cell = Arc::clone(&self.prepared.cell);
        let rows = &cell.tables[arrive.table];
        let there = rows.loaded + stored as usize;
        let expected: Checksum = (0..there).map(|place| fingerprint(rows.row(place))).collect();
        if self.sum(arrive.table)? == expected {
            return Ok(());
        }
        let mut content = Content::new(rows, 0..there);
        self.database.contents(arrive.table, &mut |row| content.see(row))?;
        content.finish()?;
        Err(unexpected().into())
    }

    /// Creates the table, and prepares its statements.
    pub(super) fn ready_to_keep(&mut self, phase: usize, keep: &Keep) -> Result<()> {
        self.keep_outcome = None;
        self.lay_out(&[], false);
        let cell = Arc::clone(&self.prepared.cell);
        let rows = &cell.tables[keep.table];
        rows.begin(0);
        let calendar = Calendar { keep, rows };
        self.database.clear_kept(keep, &calendar.step_at(calendar.time(0)))?;
        self.table_states[keep.table] = TableState::Else;
        let mut parts = keep.parts();
        let ready = parts.try_for_each(|part| self.database.ready(part, phase));
        self.unless_refused(ready).map(drop)
    }

    /// Inserts rows into the table until its cost is steady.
    pub(super) fn keep(
        &mut self,
        keep: &Keep,
        meter: &mut Meter,
        observer: &mut dyn PhaseObserver,
    ) -> Result<Answer> {
        let prepared = &mut self.prepared;
        let recorder = prepared.recorder.take().unwrap_or_default();
        let parameters = KeepParameters {
            cell: &prepared.cell,
            keep,
            longest: prepared.spec.window,
            rate: prepared.spec.target_rate,
            // The null engine gives no answers.
            checked: prepared.cell.engine != "null",
        };
        let (database, arena) = (&mut *self.database, &mut self.arena);
        let outcome = KeepRunner::new(parameters, database, observer, recorder, arena).run()?;
        report(&outcome, observer);
        let measured =
            Measured { elapsed_ns: outcome.elapsed_ns, ops: outcome.came, capped: false };
        self.keep_outcome = Some(outcome);
        meter.set_measured(measured);
        Ok(Answer::Count(measured.ops))
    }
}

/// Returns the task for the whole time at a rate.
fn whole(arrive: &Arrive, rate: u64) -> Task {
    let (part, most) = WARM_UP;
    Task::new(rate, (arrive.lasts / part).min(most), arrive.lasts)
}

/// Reports what was inserted: how much, and how long it took at first and in the last rounds.
fn report(outcome: &KeepOutcome, observer: &mut dyn PhaseObserver) {
    let counts = [
        ("rows", outcome.came),
        ("questions", outcome.asked),
        ("rounds", outcome.timeline.rounds.len() as u64),
        ("stalls", outcome.timeline.stalled),
    ];
    counts.into_iter().for_each(|(name, count)| observer.count(name, count));
    let recorder = &outcome.recorder;
    let named = |kind| match kind {
        Kind::Commit => ["commit", "commit-first", "commit-last"],
        Kind::Question => ["question", "question-first", "question-last"],
        Kind::Expiry => ["expiry", "expiry-first", "expiry-last"],
    };
    for kind in Kind::ALL {
        let all = [recorder.latency(kind), recorder.first(kind), recorder.last(kind)];
        for (name, latency) in named(kind).into_iter().zip(all) {
            latency.into_iter().for_each(|latency| observer.latency(name, latency));
        }
    }
    observer.timeline(outcome.timeline.clone());
}
