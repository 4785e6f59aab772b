//! Phases with rows that a sensor makes at a rate.

use std::sync::Arc;
use std::time::Duration;

use embermark_contract::EngineError;
use embermark_language::Arrive;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::plan::Rate;

use super::super::arrive::{TableSink, rows_of_commit};
use super::super::keep::Content;
use super::super::port::fingerprint;
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
    pub(super) fn ready_to_arrive(
        &mut self,
        phase: usize,
        arrive: &Arrive,
    ) -> Result<(), EngineError> {
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
    ) -> Result<Answer, EngineError> {
        let written = if self.prepared.rate == Rate::Max {
            self.highest_rate(phase, arrive, observer)?
        } else {
            let rate = self.prepared.target_rate.unwrap_or(arrive.rate);
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
    ) -> Result<Option<WriteOutcome>, EngineError> {
        let limit = self.prepared.p99_limit;
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
    ) -> Result<WriteOutcome, EngineError> {
        (self.table_states[arrive.table], self.maintained) = (TableState::Else, false);
        let Self { prepared, database, arena, .. } = self;
        let companions = prepared.companions.as_deref().ok_or_else(no_companions)?;
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
    pub(super) fn judge_arrived(&mut self, arrive: &Arrive) -> Result<(), CheckError> {
        let Some(stored) = self.arrived.take() else { return Ok(()) };
        let cell = Arc::clone(&self.prepared.cell);
        let rows = &cell.tables[arrive.table];
        let there = rows.loaded + stored as usize;
        let (mut expected, mut got) = (Checksum::default(), Checksum::default());
        (0..there).for_each(|place| expected += fingerprint(rows.row(place)));
        self.database.contents(arrive.table, &mut |row| got += fingerprint(row.iter().copied()))?;
        if got == expected {
            return Ok(());
        }
        let mut content = Content::new(rows, 0..there);
        self.database.contents(arrive.table, &mut |row| content.see(row))?;
        content.finish()?;
        Err(Difference("the rows of the table are not the rows expected".to_owned()).into())
    }
}

/// Returns the task for the whole time at a rate.
fn whole(arrive: &Arrive, rate: u64) -> Task {
    let (part, most) = WARM_UP;
    Task::new(rate, (arrive.lasts / part).min(most), arrive.lasts)
}
