//! The phases of an opened cell.

use std::time::Duration;

use embermark_contract::EngineError;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference, Expected};

use super::PreparedCell;
use super::oracle::{Content, Oracle};
use super::phase::{BATCH, PHASES, Phase};
use super::port::{Record, Telemetry};
use super::query_results::QueryResults;
use crate::loaded::{Loads, State};
use crate::{Bench, CheckError, OpenedPhase, first};

pub(super) struct EventsBench {
    phases: [OpenedPhase; Phase::ALL.len()],
    records: Vec<Record>,
    oracle: Oracle,
    store: Box<dyn Telemetry>,
    /// How long a question is asked again and again.
    window: Duration,
    /// Whether reads are to be cold.
    cold: bool,
    state: State,
    found: QueryResults,
    /// What the first request of a run answered wrongly.
    wrong: Option<Difference>,
}

impl EventsBench {
    pub(super) fn new(cell: PreparedCell, store: Box<dyn Telemetry>) -> Self {
        let PreparedCell { records, oracle, window, cold, .. } = cell;
        let phases = std::array::from_fn(|place| {
            let step = Phase::ALL[place];
            let ops = match step {
                Phase::Insert | Phase::InsertBuffered => records.len() as u64,
                // As many requests as there is time for.
                Phase::Gps | Phase::Co2 | Phase::Logs => 0,
                Phase::OpenLog | Phase::Open => 1,
            };
            OpenedPhase { name: PHASES[place].name, ops, execution: store.execution(step) }
        });
        let found = QueryResults::default();
        Self {
            phases,
            records,
            oracle,
            store,
            window,
            cold,
            state: State::Dirty,
            found,
            wrong: None,
        }
    }

    /// Collects rows and commits them by the batch. The stores stay in their thread, so taking rows
    /// in and committing take turns.
    fn insert_buffered(&mut self, meter: &mut Meter) -> Result<u64, EngineError> {
        let mut stored = 0;
        for (n, batch) in self.records.chunks(BATCH).enumerate() {
            if n > 0 && meter.expired() {
                break;
            }
            stored += self.store.insert_batch(batch)?;
            meter.count(batch.len() as u64);
        }
        Ok(stored)
    }

    /// Opens the database again and reads the first event, since an engine may put off recovery until
    /// it is asked.
    fn reopen(&mut self) -> Result<u64, EngineError> {
        self.store.reopen()?;
        self.store.first()
    }

    fn ask(&mut self, question: Phase, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { oracle, store, found, wrong, window, .. } = self;
        *wrong = None;
        meter.for_time(*window, |request| {
            found.clear();
            store.ask(question, found)?;
            if wrong.is_none()
                && let Err(Difference(text)) = oracle.check_request(question, found)
            {
                *wrong = Some(Difference(format!("request {}: {text}", request + 1)));
            }
            Ok::<_, EngineError>(())
        })?;
        Ok(())
    }

    /// Compares the whole store with the first `inserted` rows.
    fn read_back(&mut self, inserted: u64) -> Result<(), CheckError> {
        let inserted = usize::try_from(inserted).unwrap_or(usize::MAX).min(self.records.len());
        let mut content = Content::new(&self.records[..inserted]);
        self.store.contents(&mut |stored| content.see(stored))?;
        Ok(content.finish()?)
    }
}

impl Loads for EventsBench {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    /// In batches, without a checkpoint.
    fn load_all(&mut self) -> Result<(), EngineError> {
        self.store.clear()?;
        self.store.ready(Phase::InsertBuffered)?;
        self.records.chunks(BATCH).try_for_each(|batch| self.store.insert_batch(batch).map(drop))
    }

    fn maintain(&mut self) -> Result<(), EngineError> {
        self.store.lifecycle().maintain()
    }
}

impl Bench for EventsBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<(), EngineError> {
        let step = Phase::ALL[phase];
        match step {
            Phase::Insert | Phase::InsertBuffered => {
                self.state = State::Dirty;
                self.store.clear()?;
            }
            // Its log has every row.
            Phase::OpenLog => {
                self.state = State::Dirty;
                self.load_all()?;
            }
            Phase::Gps | Phase::Co2 | Phase::Logs | Phase::Open => self.make_ready()?,
        }
        if self.cold && step.is_question() {
            self.store.reopen()?;
        }
        self.store.ready(step)
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let step = Phase::ALL[phase];
        if step == Phase::OpenLog {
            self.store.lifecycle().crash_on_close()?;
        }
        meter.start();
        let done = match step {
            Phase::Insert => self.store.insert(&self.records, meter),
            Phase::InsertBuffered => self.insert_buffered(meter),
            Phase::Gps | Phase::Co2 | Phase::Logs => self.ask(step, meter).map(|()| 0),
            Phase::OpenLog | Phase::Open => meter.once(|| self.reopen()),
        };
        meter.stop();
        let count = done?;
        let inserts = matches!(step, Phase::Insert | Phase::InsertBuffered);
        if inserts && meter.measured().ops == self.records.len() as u64 {
            self.state = State::Loaded;
        }
        Ok(if step.is_question() { self.found.answer(step) } else { Answer::Count(count) })
    }

    fn check(
        &mut self,
        phase: usize,
        answer: &Answer,
        measured: Measured,
    ) -> Result<(), CheckError> {
        let step = Phase::ALL[phase];
        if step.is_question() {
            self.wrong.take().map_or(Ok(()), Err)?;
            return Ok(self.oracle.check(step, answer)?);
        }
        let right = match step {
            // The first row is read.
            Phase::OpenLog | Phase::Open => measured.ops.min(self.records.len() as u64),
            _ => measured.ops,
        };
        Expected::Count(right).check(answer)?;
        let same = match step {
            Phase::OpenLog | Phase::Open => self.read_back(u64::MAX),
            _ => self.read_back(measured.ops),
        };
        if same.is_err() {
            self.state = State::Dirty;
        }
        same
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        let inserts = matches!(Phase::ALL[phase], Phase::Insert | Phase::InsertBuffered);
        let inserted = inserts.then(|| first(&self.records, ops))?;
        Some(inserted.iter().map(|record| record.event.value_bytes()).sum())
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        Loads::maintain_as_left(self)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.make_ready()?;
        self.store.close()
    }
}
