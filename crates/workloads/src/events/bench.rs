//! The phases of an opened cell.

use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use embermark_contract::EngineError;
use embermark_data::events::{Event, Payload};
use embermark_meter::{Measured, Meter};
use embermark_model::answer::{Answer, Difference, Expected};
use embermark_model::result::{Execution, WriteBehind};

use super::oracle::{Content, Oracle};
use super::phase::{BATCH, PHASES, Phase};
use super::port::{Record, Telemetry};
use super::posted::{self, Known};
use super::query_results::QueryResults;
use super::{PreparedCell, large_log};
use crate::http::{self, Client, Service};
use crate::loaded::{Loads, State};
use crate::write_behind::Buffer;
use crate::{Bench, CheckError, Companions, OpenedPhase, Repeat, first};

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
    companions: Option<Rc<dyn Companions>>,
    /// For the next run; or why there can be none.
    prepared: Result<Prepared, EngineError>,
    last: Last,
    /// The rows that are in the store in the order of their ids, where they came over HTTP and were given
    /// ids as they came.
    arrived: Option<Vec<Known>>,
}

/// What a run needs that is there before its clock.
enum Prepared {
    Nothing,
    Client(Client),
    Buffer(Buffer),
}

/// What there is to say of the last run.
#[derive(Default)]
struct Last {
    log_bytes: Option<u64>,
    write_behind: Option<WriteBehind>,
}

/// Requests in flight, each on a connection that is kept open: those of the source's client.
const CONNECTIONS: usize = 10;

/// Rows a second that are offered off the thread: the peak that the source names. And the most of a commit.
const RATE: u64 = 100_000;
const MOST: usize = 10_000;

/// Inserts rows by the batch.
pub(super) fn insert_all(store: &mut dyn Telemetry, records: &[Record]) -> Result<(), EngineError> {
    store.ready(Phase::InsertBuffered)?;
    records.chunks(BATCH).try_for_each(|batch| store.insert_batch(batch).map(drop))
}

impl EventsBench {
    pub(super) fn new(cell: PreparedCell, store: Box<dyn Telemetry>) -> Self {
        let PreparedCell { records, oracle, window, cold, companions, .. } = cell;
        let phases = std::array::from_fn(|place| {
            let step = Phase::ALL[place];
            let ops = match step {
                _ if step.opens() => 1,
                // As many requests as there is time for.
                _ if step.is_question() => 0,
                _ => records.len() as u64,
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
            companions,
            prepared: Ok(Prepared::Nothing),
            last: Last::default(),
            arrived: None,
        }
    }

    fn clear(&mut self) -> Result<(), EngineError> {
        (self.state, self.arrived) = (State::Dirty, None);
        self.store.clear()
    }

    /// What a run of a phase needs, on a database that is ready for it.
    fn prepare(&mut self, step: Phase) -> Result<Prepared, EngineError> {
        let rows = self.records.len();
        Ok(match step {
            Phase::InsertHttp => {
                let bodies = self.records.iter().map(posted::body).collect::<Result<_, _>>();
                let bodies =
                    bodies.map_err(|e| EngineError::failed("the workload", "post rows", e))?;
                Prepared::Client(Client::start(self.companions.as_deref(), bodies, CONNECTIONS)?)
            }
            Phase::InsertOffthread => Prepared::Buffer(Buffer::new(rows, RATE, MOST)),
            Phase::OpenLargeLog => {
                let bytes = large_log::fill(self.store.as_mut(), &self.records)?;
                self.last.log_bytes = Some(bytes);
                Prepared::Nothing
            }
            _ => Prepared::Nothing,
        })
    }

    /// Takes down whether a run has inserted every row; `stored` again.
    fn inserted(&mut self, stored: u64, meter: &Meter) -> u64 {
        if meter.measured().ops == self.records.len() as u64 {
            self.state = State::Loaded;
        }
        stored
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

    /// Compares the whole store with the first `inserted` rows, or with those that came over HTTP.
    fn read_back(&mut self, inserted: u64) -> Result<(), CheckError> {
        let expected = match &self.arrived {
            Some(arrived) => posted::in_order(&self.records, arrived)?,
            None => first(&self.records, inserted).iter().map(|record| &record.event).collect(),
        };
        let mut content = Content::new(expected);
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
        self.clear()?;
        insert_all(self.store.as_mut(), &self.records)
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
        self.last = Last::default();
        match step {
            // Its log has every row.
            Phase::OpenLog => self.load_all()?,
            Phase::OpenLargeLog => self.clear()?,
            _ if step.inserts() => self.clear()?,
            _ => self.make_ready()?,
        }
        if self.cold && step.is_question() {
            self.store.reopen()?;
        }
        self.store.ready(step)?;
        self.prepared = match self.prepare(step) {
            // Of this phase alone: its run says so.
            Err(error) if !error.is_unsupported() => return Err(error),
            prepared => prepared,
        };
        Ok(())
    }

    fn repeat(&self, phase: usize) -> Repeat {
        match Phase::ALL[phase] {
            step if step.opens() => Repeat::Restored,
            Phase::Insert => Repeat::Restored,
            _ => Repeat::Never,
        }
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let step = Phase::ALL[phase];
        if matches!(step, Phase::OpenLog | Phase::OpenLargeLog) {
            self.store.lifecycle().crash_on_close()?;
        }
        let prepared = std::mem::replace(&mut self.prepared, Ok(Prepared::Nothing))?;
        let (store, records) = (self.store.as_mut(), &self.records);
        if let Prepared::Client(client) = prepared {
            let mut arrived = Vec::with_capacity(records.len());
            let stored = http::insert(client, records.len(), meter, |streams, meter| {
                let commit = &mut |record: &mut Record| {
                    arrived.push(Known::of(record));
                    record.event.id = arrived.len() as i64;
                    store.insert_one(record)
                };
                let nothing = Event { id: 0, timestamp: 0, data: Payload::Co2 { co2: 0.0 } };
                let room = &|| Record::of(nothing);
                let served =
                    http::serve(streams, Service { read: &posted::read, commit, room }, meter)?;
                store.flush()?;
                Ok(served)
            })?;
            self.arrived = Some(arrived);
            return Ok(Answer::Count(self.inserted(stored, meter)));
        }
        meter.start();
        let done = match (step, prepared) {
            (Phase::Insert, _) => store.insert(records, meter),
            (_, Prepared::Buffer(buffer)) => {
                let commit = &mut |rows: Range<usize>| store.insert_batch(&records[rows]);
                buffer.insert(commit, meter).map(|done| {
                    self.last.write_behind = done.write_behind;
                    done.stored
                })
            }
            (Phase::Gps | Phase::Co2 | Phase::Logs, _) => self.ask(step, meter).map(|()| 0),
            _ if step.opens() => meter.once(|| self.reopen()),
            _ => self.insert_buffered(meter),
        };
        meter.stop();
        let count = done?;
        if step.inserts() {
            self.inserted(count, meter);
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
        let right = match step.opens() {
            // The first row is read.
            true => measured.ops.min(self.records.len() as u64),
            false => measured.ops,
        };
        Expected::Count(right).check(answer)?;
        let same = self.read_back(if step.opens() { u64::MAX } else { measured.ops });
        if same.is_err() {
            self.state = State::Dirty;
        }
        same
    }

    fn execution(&self, phase: usize) -> Option<Execution> {
        self.store.answered_by().filter(|_| Phase::ALL[phase].is_question())
    }

    fn log_bytes(&self, _: usize) -> Option<u64> {
        self.last.log_bytes
    }

    fn write_behind(&self, _: usize) -> Option<WriteBehind> {
        self.last.write_behind
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        let inserted = Phase::ALL[phase].inserts().then(|| first(&self.records, ops))?;
        Some(inserted.iter().map(|record| record.event.value_bytes()).sum())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        self.store.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        Loads::maintain_as_left(self)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.make_ready()?;
        self.store.close()
    }
}
