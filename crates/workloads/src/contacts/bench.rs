//! The workload on one database.

use embermark_contract::kv::Indexed;
use embermark_contract::{EngineError, Reopener, Store};
use embermark_data::contacts::Contact;
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;

use super::document::DocumentBook;
use super::kv::KvBook;
use super::oracle::{Oracle, ReadBack};
use super::phase::{PHASES, Phase};
use super::port::{AddressBook, Changes};
use super::series::SeriesBook;
use super::sql::SqlBook;
use crate::loaded::{Loads, State};
use crate::reopenable::Reopenable;
use crate::{Bench, CheckError, OpenedPhase, Prepared, Repeat, Strategy, first};

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub oracle: Oracle,
    pub strategy: Strategy,
    pub changes: Changes,
    /// Whether reads are to be cold.
    pub cold: bool,
}

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        mut store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let rows = self.oracle.contacts.len();
        let connects_by_request = store.lifecycle().connects_by_request();
        let book: Box<dyn AddressBook> = match store {
            Store::Sql(store) => Box::new(SqlBook::new(Reopenable::new(store, reopener), rows)),
            Store::Kv(store) => {
                let keeps_index = store.keeps_indexes();
                let store = Reopenable::new(Indexed::new(store), Indexed::reopener(reopener));
                Box::new(KvBook::new(store, rows, keeps_index)?)
            }
            Store::Document(store) => {
                Box::new(DocumentBook::new(Reopenable::new(store, reopener), rows)?)
            }
            Store::Series(store) => {
                Box::new(SeriesBook::new(Reopenable::new(store, reopener), rows))
            }
        };
        let phase = |(step, info): (Phase, &crate::PhaseInfo)| OpenedPhase {
            name: info.name,
            // A step that concerns no row is still one call.
            ops: self.oracle.ops(step).max(1),
            execution: book.execution(step),
        };
        let phases = Phase::ALL.into_iter().zip(&PHASES).map(phase).collect();
        let (cell, state) = (*self, State::Dirty);
        Ok(Box::new(ContactsBench { phases, cell, book, state, connects_by_request }))
    }
}

struct ContactsBench {
    phases: Vec<OpenedPhase>,
    cell: PreparedCell,
    book: Box<dyn AddressBook>,
    state: State,
    /// Whether opening makes no connection, which the first request does.
    connects_by_request: bool,
}

impl ContactsBench {
    /// The step itself, inside the clock. `None` where an engine does not tell how many rows it
    /// changed.
    fn perform(&mut self, step: Phase, meter: &mut Meter) -> Result<Option<Answer>, EngineError> {
        let Self { cell: PreparedCell { oracle, strategy, changes, .. }, book, .. } = self;
        Ok(match step {
            Phase::OpenClose if !oracle.reads && self.connects_by_request => {
                let why = "opening without a read is nothing that can be timed: this engine's client \
                           connects with its first request";
                return Err(EngineError::impossible(why));
            }
            Phase::OpenClose if !oracle.reads => {
                let opened = meter.each(oracle.drawn.len() as u64, |_| book.reopen())?;
                Some(Answer::Count(opened))
            }
            Phase::OpenClose => {
                let mut found = Checksum::default();
                meter.each(oracle.drawn.len() as u64, |i| {
                    let Checksum { rows, sum } = book.open_close(oracle.drawn[i])?;
                    found.rows += rows;
                    found.sum = found.sum.wrapping_add(sum);
                    Ok::<_, EngineError>(())
                })?;
                Some(Answer::Checksum(found))
            }
            Phase::Insert => {
                let inserted = book.insert(&oracle.contacts, *strategy, meter)?;
                Some(Answer::Count(inserted))
            }
            Phase::Select(by) => Some(Answer::Checksum(book.select(by)?)),
            Phase::Update(by) => book.update(by, *changes, meter)?.map(Answer::Count),
            Phase::Delete(by) => book.delete(by, *changes, meter)?.map(Answer::Count),
        })
    }

    /// Rows that are gone, counted by reading what is left.
    fn gone(&mut self) -> Result<Answer, EngineError> {
        let mut left = 0;
        self.book.contents(&mut |_| left += 1)?;
        let rows = self.cell.oracle.contacts.len() as u64;
        Ok(Answer::Count(rows.saturating_sub(left)))
    }

    /// Compares the answer, and after a step that writes or reads nothing the whole store.
    fn compare(&mut self, step: Phase, answer: &Answer, rows: u64) -> Result<(), CheckError> {
        let Self { cell: PreparedCell { oracle, .. }, book, .. } = self;
        oracle.answer(step, rows).check(answer)?;
        if step.writes() || (step == Phase::OpenClose && !oracle.reads) {
            let mut content = ReadBack::new(oracle, step, rows);
            book.contents(&mut |row| content.see(row))?;
            content.finish()?;
        }
        Ok(())
    }
}

impl Loads for ContactsBench {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    fn load_all(&mut self) -> Result<(), EngineError> {
        self.book.clear()?;
        self.book.ready(Phase::Insert, Strategy::Bulk)?;
        let contacts = &self.cell.oracle.contacts;
        self.book.insert(contacts, Strategy::Bulk, &mut Meter::new(None)).map(drop)
    }

    fn maintain(&mut self) -> Result<(), EngineError> {
        self.book.lifecycle().maintain()
    }
}

impl Bench for ContactsBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<(), EngineError> {
        let step = Phase::ALL[phase];
        match step {
            Phase::Insert => {
                self.state = State::Dirty;
                self.book.clear()?;
            }
            // Rebuilt even before the first run, so that all runs find the same state.
            _ if step.changes_rows() => self.rebuild()?,
            _ => self.make_ready()?,
        }
        if self.cell.cold && step != Phase::Insert {
            self.book.reopen()?;
        }
        self.book.ready(step, self.cell.strategy)
    }

    fn repeat(&self, phase: usize) -> Repeat {
        match Phase::ALL[phase] {
            Phase::Select(_) => Repeat::Reads,
            _ => Repeat::Restored,
        }
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let step = Phase::ALL[phase];
        if step.writes() {
            self.state = State::Dirty;
        }
        meter.start();
        let done = self.perform(step, meter);
        meter.stop();
        let told = done?;
        let measured = meter.measured();
        if step == Phase::Insert && !measured.capped {
            self.state = State::Loaded;
        }
        // One call for all of its rows, unless code of ours ended it early.
        let together = step.changes_rows() && self.cell.changes == Changes::Together;
        let called = matches!(step, Phase::Select(_)) || together;
        if step.changes_rows() && !together && self.cell.oracle.ops(step) == 0 {
            meter.count(1);
        }
        if called {
            match &told {
                Some(Answer::Count(done)) if measured.capped => meter.count(*done),
                _ => meter.count(self.phases[phase].ops),
            }
        }
        told.map_or_else(|| self.gone(), Ok)
    }

    fn check(
        &mut self,
        phase: usize,
        answer: &Answer,
        measured: Measured,
    ) -> Result<(), CheckError> {
        let (step, ops) = (Phase::ALL[phase], self.phases[phase].ops);
        if measured.ops != ops && !measured.capped {
            let text = format!("{} of {ops} operations were done", measured.ops);
            return Err(Difference(text).into());
        }
        let rows = measured.ops.min(self.cell.oracle.ops(step));
        let same = self.compare(step, answer, rows);
        if same.is_err() {
            self.state = State::Dirty;
        }
        same
    }

    fn execution(&self, phase: usize) -> Option<Execution> {
        let step = Phase::ALL[phase];
        self.book.answered_by(step).filter(|_| matches!(step, Phase::Select(_)))
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        let contacts = &self.cell.oracle.contacts;
        let inserted = (Phase::ALL[phase] == Phase::Insert).then(|| first(contacts, ops))?;
        Some(inserted.iter().map(Contact::value_bytes).sum())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        self.book.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        Loads::maintain_as_left(self)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.make_ready()?;
        self.book.close()
    }
}
