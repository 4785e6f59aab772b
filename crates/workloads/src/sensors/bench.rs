//! The workload on one database.

use embermark_contract::{EngineError, Reopener, Store};
use embermark_meter::{ArrivalSchedule, Measured, Meter};
use embermark_model::Reading;
use embermark_model::answer::{Answer, Difference};
use embermark_model::result::Execution;

use super::cell::PreparedCell;
use super::clients::Clients;
use super::csv_file::CsvRows;
use super::family;
use super::guest::GuestBench;
use super::oracle::Content;
use super::phase::Phase;
use super::port::SensorLog;
use super::query_results::QueryResults;
use super::share::Done;
use super::variant::Variant;
use crate::Strategy;
use crate::loaded::{Loads, State};
use crate::{Bench, CheckError, OpenedPhase, Prepared, Repeat, first};

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let log = family::open(store, reopener, &self.sequences.newest)?;
        let phases = self.phases(&*log);
        let mut bench = SensorBench {
            log,
            clients: None,
            cell: *self,
            phases,
            state: State::Dirty,
            done: Done::first(0),
            found: QueryResults::default(),
        };
        // An engine that has one client at a time says so before anything is loaded.
        bench.open_clients()?;
        Ok(Box::new(bench))
    }

    fn join(self: Box<Self>, store: Store) -> Result<Box<dyn Bench>, EngineError> {
        Ok(Box::new(GuestBench::new(*self, family::attach(store)?)))
    }
}

struct SensorBench {
    /// Those that are in, where there are to be several: closed before the log is.
    clients: Option<Clients>,
    log: Box<dyn SensorLog>,
    cell: PreparedCell,
    phases: Vec<OpenedPhase>,
    state: State,
    /// Which operations the last run did.
    done: Done,
    found: QueryResults,
}

impl SensorBench {
    /// Lets the clients in, where there are to be several and they are not.
    fn open_clients(&mut self) -> Result<(), EngineError> {
        let shares = &self.cell.shares;
        if self.clients.is_none() && !shares.is_empty() {
            self.clients = Some(Clients::begin(&mut *self.log, shares)?);
        }
        Ok(())
    }

    /// Ends the clients, before the log is worked on as a whole.
    fn close_clients(&mut self) -> Result<(), EngineError> {
        self.clients.take().map_or(Ok(()), Clients::end)
    }

    /// The step by several clients, inside the clock of each.
    fn share(&mut self, step: Phase, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { clients, cell: PreparedCell { variant, load, .. }, found, .. } = self;
        if let Some(clients) = clients {
            self.done = clients.run(step, variant.strategy(), *load, meter, found)?;
        }
        Ok(())
    }

    /// The step itself, inside the clock.
    fn perform(&mut self, step: Phase, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { log, cell, found, .. } = self;
        let PreparedCell { rows, sequences, ranges, csv, variant, .. } = cell;
        let by = variant.strategy();
        match step {
            Phase::Update if variant.changes_ranges(step) => {
                found.changed = log.update_ranges(&ranges.changes, by, meter)?
            }
            Phase::Delete if variant.changes_ranges(step) => {
                found.changed = log.delete_ranges(&ranges.deletes, by, meter)?
            }
            question if variant.asks_each(question) => {
                let asked = &sequences.newest;
                meter.each(asked.len() as u64, |i| log.ask(question, Some(asked[i]), found))?;
            }
            Phase::Load => {
                found.changed = match csv {
                    Some(csv) => load_csv(&mut **log, csv, meter)?,
                    None => log.load(rows, by, meter)?,
                }
            }
            Phase::Read => found.checksum = log.read(&sequences.reads, meter)?,
            Phase::LastReadings => {
                log.last_readings(&sequences.newest, meter, &mut found.newest)?
            }
            Phase::Update => found.changed = log.update(&sequences.changes, by, meter)?,
            Phase::Delete => found.changed = log.delete(&sequences.deletes, by, meter)?,
            _ => meter.once(|| log.ask(step, None, found))?,
        }
        Ok(())
    }

    /// Reads the whole store back and compares it with what the step's operations left.
    fn read_back(&mut self, step: Phase) -> Result<(), CheckError> {
        let (after, spare) = self.cell.after(step, &self.done);
        let mut content = Content::new(&self.cell.oracle, &*after, spare);
        self.log.contents(&mut |reading| content.see(reading))?;
        Ok(content.finish()?)
    }
}

/// Puts the rows of a file in, by the engine itself or by its bulk path.
fn load_csv(log: &mut dyn SensorLog, csv: &CsvRows, meter: &mut Meter) -> Result<u64, EngineError> {
    if log.loads_csv() {
        let loaded = log.load_csv(&csv.file())?;
        meter.count(loaded);
        return Ok(loaded);
    }
    log.load(&csv.parse()?, Strategy::Bulk, meter)
}

const fn changes_rows(step: Phase) -> bool {
    matches!(step, Phase::Update | Phase::Delete)
}

impl Loads for SensorBench {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    fn load_all(&mut self) -> Result<(), EngineError> {
        self.close_clients()?;
        self.log.clear()?;
        self.log.ready(Phase::Load, Variant::ByKey(Strategy::Bulk))?;
        self.log.load(&self.cell.rows, Strategy::Bulk, &mut Meter::new(None)).map(drop)
    }

    fn maintain(&mut self) -> Result<(), EngineError> {
        self.close_clients()?;
        self.log.lifecycle().maintain()
    }
}

impl Bench for SensorBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<(), EngineError> {
        let step = Phase::RUN_ORDER[phase];
        match step {
            Phase::Load => {
                self.state = State::Dirty;
                self.close_clients()?;
                self.log.clear()?;
            }
            // Rebuilt even before the first run, so that all runs find the same state.
            _ if changes_rows(step) => self.rebuild()?,
            _ => self.make_ready()?,
        }
        if self.cell.cold && step != Phase::Load {
            self.close_clients()?;
            self.log.reopen()?;
        }
        self.found.empty(&self.cell.oracle);
        self.open_clients()?;
        match &mut self.clients {
            Some(clients) => clients.ready(step, self.cell.variant),
            None => self.log.ready(step, self.cell.variant),
        }
    }

    fn repeat(&self, phase: usize) -> Repeat {
        let step = Phase::RUN_ORDER[phase];
        if step == Phase::Load || changes_rows(step) { Repeat::Restored } else { Repeat::Reads }
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        let step = Phase::RUN_ORDER[phase];
        if changes_rows(step) {
            self.state = State::Dirty;
        }
        if self.clients.is_some() {
            self.share(step, meter)?;
        } else {
            if !step.is_question() && step != Phase::LastReadings {
                meter.set_schedule(
                    self.cell.load.target_rate.map(|rate| ArrivalSchedule::of(rate as f64, 1, 0)),
                );
            }
            meter.start();
            let done = self.perform(step, meter);
            meter.stop();
            done?;
            self.done = Done::first(meter.measured().ops);
        }
        if step == Phase::Load && !meter.measured().capped {
            self.state = State::Loaded;
        }
        Ok(self.found.answer(step))
    }

    fn check(
        &mut self,
        phase: usize,
        answer: &Answer,
        measured: Measured,
    ) -> Result<(), CheckError> {
        let step = Phase::RUN_ORDER[phase];
        let complete = self.phases[phase].ops == measured.ops;
        if !complete && !measured.capped {
            let ops = self.phases[phase].ops;
            let text = format!("{} of {ops} operations were done", measured.ops);
            return Err(Difference(text).into());
        }
        self.cell.expected(step, &self.done).check(answer)?;
        if step == Phase::Load || changes_rows(step) {
            let same = self.read_back(step);
            if same.is_err() {
                self.state = State::Dirty;
            }
            same?;
        }
        Ok(())
    }

    fn done(&self) -> Vec<u64> {
        self.done.each().to_vec()
    }

    fn take_done(&mut self, phase: usize, done: Vec<u64>) {
        self.done = Done::by_clients(done.into_iter());
        // Of a load that another machine did not end, rows are missing.
        if Phase::RUN_ORDER[phase] == Phase::Load && self.done.ops() < self.phases[phase].ops {
            self.state = State::Dirty;
        }
    }

    fn execution(&self, phase: usize) -> Option<Execution> {
        self.log.answered_by().filter(|_| Phase::RUN_ORDER[phase].is_question())
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        let loaded = (Phase::RUN_ORDER[phase] == Phase::Load).then_some(&self.cell.rows)?;
        Some(first(loaded, ops).iter().map(Reading::value_bytes).sum())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>, EngineError> {
        self.log.lifecycle().tier_settings()
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        Loads::maintain_as_left(self)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.make_ready()?;
        self.close_clients()?;
        self.log.close()
    }
}
