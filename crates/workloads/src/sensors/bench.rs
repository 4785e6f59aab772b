//! The workload on one database.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use embermark_data::staged::StagedRows;
use embermark_engines::{EngineError, Store};
use embermark_meter::{Measured, Meter, Pace};
use embermark_model::Reading;
use embermark_model::answer::{Answer, Difference, Expected};

use super::clients::Clients;
use super::document::DocumentLog;
use super::found::{self, Found};
use super::kv::KvLog;
use super::oracle::{Content, Oracle};
use super::port::SensorLog;
use super::sequence::Sequences;
use super::series::SeriesLog;
use super::share::{Done, Share};
use super::sql::SqlLog;
use super::step::Step;
use crate::Strategy;
use crate::{Bench, CheckError, Phase, Prepared};

/// Everything that exists before the engine does.
pub(super) struct Cell {
    pub rows: StagedRows,
    pub oracle: Oracle,
    pub sequences: Sequences,
    pub strategy: Strategy,
    pub load: Load,
    /// What each of several clients does; none where there is one.
    pub shares: Vec<Arc<Share>>,
}

/// By whom and when operations are called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Clients, at least one.
    pub clients: u32,
    /// Operations a second by all of them; `None` in a closed loop.
    pub arrivals: Option<u64>,
}

impl Prepared for Cell {
    fn open(self: Box<Self>, store: Store) -> Result<Box<dyn Bench>, EngineError> {
        let log = open(store, self.sequences.newest.len())?;
        let phases = self.phases(&*log);
        let mut bench = SensorBench {
            log,
            clients: None,
            cell: *self,
            phases,
            state: State::Dirty,
            done: Done::first(0),
            found: Found::default(),
        };
        // An engine that has one client at a time says so before anything is loaded.
        bench.admit()?;
        Ok(Box::new(bench))
    }
}

impl Cell {
    fn phases(&self, log: &dyn SensorLog) -> Vec<Phase> {
        let phase = |step: Step| {
            let ops = match step {
                Step::Load => self.rows.len(),
                Step::Read => self.sequences.reads.len(),
                Step::LastReadings => self.sequences.newest.len(),
                Step::Update => self.sequences.changes.len(),
                Step::Delete => self.sequences.deletes.len(),
                _ => 1,
            };
            Phase { name: step.name(), ops: ops as u64, how: log.how(step) }
        };
        Step::RUN_ORDER.into_iter().map(phase).collect()
    }

    /// What the oracle says to the step's operations that were done.
    fn expected(&self, step: Step, done: &Done) -> Expected {
        match step {
            Step::Read => {
                let read = self.sequences.rows_read(done).map(|place| &self.rows[place]);
                Expected::Checksum(read.collect())
            }
            Step::LastReadings => {
                let asked = done.of(&self.sequences.newest);
                let places = asked.filter_map(|&s| self.oracle.newest(&self.rows, s));
                let rows = places.map(|place| found::reading(&self.rows[place as usize]));
                Expected::Set { rows: rows.collect(), optional: Vec::new() }
            }
            // Loaded or changed: one row an operation.
            _ => self.oracle.answer(step).cloned().unwrap_or(Expected::Count(done.ops())),
        }
    }

    /// What the row at a place must be after the operations of a step that were done on the full
    /// log, or while loading it; and how many rows of those may be absent.
    fn after<'a>(
        &'a self,
        step: Step,
        done: &'a Done,
    ) -> (Box<dyn Fn(u32) -> Option<Reading> + 'a>, u64) {
        let rows = &*self.rows;
        let row = |place: u32| rows[place as usize];
        let (changed, deleted) = (&self.sequences.changed, &self.sequences.deleted);
        match step {
            // In whatever order the engine took them.
            Step::Load if self.strategy == Strategy::Bulk => {
                (Box::new(move |place| Some(row(place))), rows.len() as u64 - done.ops())
            }
            Step::Load => (Box::new(move |place| done.has(place as usize).then(|| row(place))), 0),
            Step::Update => {
                let changes = done.of(changed).zip(done.of(&self.sequences.changes));
                let set: HashMap<u32, f64> =
                    changes.map(|(place, change)| (*place, change.temperature)).collect();
                let changed = move |place| {
                    let mut row = row(place);
                    if let Some(&temperature) = set.get(&place) {
                        row.set(Reading::TEMPERATURE, Some(temperature));
                    }
                    Some(row)
                };
                (Box::new(changed), 0)
            }
            Step::Delete => {
                let gone: HashSet<u32> = done.of(deleted).copied().collect();
                (Box::new(move |place| (!gone.contains(&place)).then(|| row(place))), 0)
            }
            _ => (Box::new(move |place| Some(row(place))), 0),
        }
    }
}

/// In what state the database is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not every row is there as it was loaded.
    Dirty,
    /// Every row is.
    Loaded,
    /// And the database has come to rest.
    Settled,
}

struct SensorBench {
    /// Those that are in, where there are to be several: closed before the log is.
    clients: Option<Clients>,
    log: Box<dyn SensorLog>,
    cell: Cell,
    phases: Vec<Phase>,
    state: State,
    /// Which operations the last run did.
    done: Done,
    found: Found,
}

impl SensorBench {
    /// Lets the clients in, where there are to be several and they are not.
    fn admit(&mut self) -> Result<(), EngineError> {
        let Cell { shares, sequences, .. } = &self.cell;
        if self.clients.is_none() && !shares.is_empty() {
            let newest = sequences.newest.len();
            self.clients = Some(Clients::begin(&mut *self.log, shares, newest)?);
        }
        Ok(())
    }

    /// Ends the clients, before the log is worked on as a whole.
    fn dismiss(&mut self) -> Result<(), EngineError> {
        self.clients.take().map_or(Ok(()), Clients::end)
    }

    /// Loads every row anew by the fastest path.
    fn rebuild(&mut self) -> Result<(), EngineError> {
        self.state = State::Dirty;
        self.dismiss()?;
        self.log.clear()?;
        self.log.ready(Step::Load, Strategy::Bulk)?;
        self.log.load(&self.cell.rows, Strategy::Bulk, &mut Meter::new(None))?;
        self.state = State::Loaded;
        self.settle()
    }

    fn settle(&mut self) -> Result<(), EngineError> {
        match self.state {
            State::Dirty => self.rebuild(),
            State::Settled => Ok(()),
            State::Loaded => {
                self.dismiss()?;
                self.log.settle()?;
                self.state = State::Settled;
                Ok(())
            }
        }
    }

    /// The step by several clients, inside the clock of each.
    fn share(&mut self, step: Step, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { clients, cell: Cell { strategy, load, .. }, found, .. } = self;
        if let Some(clients) = clients {
            self.done = clients.run(step, *strategy, *load, meter, found)?;
        }
        Ok(())
    }

    /// The step itself, inside the clock.
    fn perform(&mut self, step: Step, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { log, cell: Cell { rows, sequences, strategy, .. }, found, .. } = self;
        let by = *strategy;
        match step {
            Step::Load => found.changed = log.load(rows, by, meter)?,
            Step::Read => found.checksum = log.read(&sequences.reads, meter)?,
            Step::LastReadings => log.last_readings(&sequences.newest, meter, &mut found.newest)?,
            Step::Update => found.changed = log.update(&sequences.changes, by, meter)?,
            Step::Delete => found.changed = log.delete(&sequences.deletes, by, meter)?,
            _ => meter.once(|| log.ask(step, found))?,
        }
        Ok(())
    }

    /// Reads the whole store back and compares it with what the step's operations left.
    fn read_back(&mut self, step: Step) -> Result<(), CheckError> {
        let (after, spare) = self.cell.after(step, &self.done);
        let mut content = Content::new(&self.cell.oracle, &*after, spare);
        self.log.contents(&mut |reading| content.see(reading))?;
        Ok(content.finish()?)
    }
}

const fn changes_rows(step: Step) -> bool {
    matches!(step, Step::Update | Step::Delete)
}

impl Bench for SensorBench {
    fn phases(&self) -> &[Phase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<(), EngineError> {
        let step = Step::RUN_ORDER[phase];
        match step {
            Step::Load => {
                self.state = State::Dirty;
                self.dismiss()?;
                self.log.clear()?;
            }
            // Rebuilt even before the first run, so that all runs find the same state.
            _ if changes_rows(step) => self.rebuild()?,
            _ => self.settle()?,
        }
        self.found.empty(&self.cell.oracle);
        self.admit()?;
        match &mut self.clients {
            Some(clients) => clients.ready(step, self.cell.strategy),
            None => self.log.ready(step, self.cell.strategy),
        }
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let step = Step::RUN_ORDER[phase];
        if changes_rows(step) {
            self.state = State::Dirty;
        }
        if self.clients.is_some() {
            self.share(step, meter)?;
        } else {
            if !step.is_question() && step != Step::LastReadings {
                meter.set_pace(self.cell.load.arrivals.map(|rate| Pace::of(rate, 1, 0)));
            }
            meter.start();
            let done = self.perform(step, meter);
            meter.stop();
            done?;
            self.done = Done::first(meter.measured().ops);
        }
        if step == Step::Load && !meter.measured().capped {
            self.state = State::Loaded;
        }
        Ok(self.found.answer(step))
    }

    fn check(
        &mut self,
        phase: usize,
        answer: &Answer,
        measured: Measured,
        last: bool,
    ) -> Result<(), CheckError> {
        let step = Step::RUN_ORDER[phase];
        let complete = self.phases[phase].ops == measured.ops;
        if !complete && !measured.capped {
            let ops = self.phases[phase].ops;
            let text = format!("{} of {ops} operations were done", measured.ops);
            return Err(Difference(text).into());
        }
        self.cell.expected(step, &self.done).check(answer)?;
        if step == Step::Load || (last && changes_rows(step)) {
            let same = self.read_back(step);
            if same.is_err() {
                self.state = State::Dirty;
            }
            same?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.dismiss()?;
        self.settle()?;
        self.log.close()
    }
}

/// The sensors' log in a store of any family, empty. Its `last_readings` will be asked for
/// `newest` sensors.
fn open(store: Store, newest: usize) -> Result<Box<dyn SensorLog>, EngineError> {
    let mut log: Box<dyn SensorLog> = match store {
        Store::Sql(store) => Box::new(SqlLog::new(store, newest)),
        Store::Kv(store) => Box::new(KvLog::new(store)?),
        Store::Document(store) => Box::new(DocumentLog::new(store)?),
        Store::Series(store) => Box::new(SeriesLog::new(store)),
    };
    log.clear()?;
    Ok(log)
}

/// The same log for a further client, as it is.
pub(super) fn attach(store: Store, newest: usize) -> Result<Box<dyn SensorLog>, EngineError> {
    Ok(match store {
        Store::Sql(store) => Box::new(SqlLog::new(store, newest)),
        Store::Kv(store) => Box::new(KvLog::new(store)?),
        Store::Document(store) => Box::new(DocumentLog::attach(store)?),
        Store::Series(store) => Box::new(SeriesLog::new(store)),
    })
}
