//! A workload file on one database.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Scope, Store};
use embermark_language::{Commit, Removed, Work};
use embermark_meter::{ArrivalSchedule, Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;

use super::cell::{Cell, is_question, table_of};
use super::crew::{Crew, Done, Duty};
use super::mixed::{self, Left};
use super::oracle::{Content, Oracle, Touched, leaves_any_rows};
use super::port::{Database, Found, fingerprint};
use super::{draws, family, mix};
use crate::{Bench, CheckError, MeasuredPart, OpenedPhase, Prepared, Strategy};

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub cell: Arc<Cell>,
    /// By phase: its name.
    pub names: Vec<&'static str>,
    /// What a commit covers, where the variant says so for all.
    pub commit: Option<Commit>,
    /// How long questions are repeated.
    pub window: Duration,
    /// Operations a second of phases of single rows.
    pub target_rate: Option<u64>,
    /// Clients that share the operations of phases of single rows.
    pub clients: u32,
    pub seed: u64,
    /// By phase, of a mix: what its parts are called.
    pub parts: Vec<Vec<&'static str>>,
    /// Whether reads are to be cold.
    pub cold: bool,
}

impl Prepared for PreparedCell {
    fn open(
        self: Box<Self>,
        store: Store,
        reopener: Reopener,
    ) -> Result<Box<dyn Bench>, EngineError> {
        let database = family::open(store, reopener, Arc::clone(&self.cell))?;
        let execution = |phase| database.execution(phase).unwrap_or(Execution::Native);
        let phases = self.names.iter().enumerate().map(|(phase, name)| OpenedPhase {
            name,
            ops: self.ops(phase),
            execution: match self.cell.work(phase) {
                Work::Mix(mix) => {
                    let parts = mix.parts.iter().map(|part| execution(part.phase));
                    let client_side = parts.into_iter().any(|by| by == Execution::ClientSide);
                    if client_side { Execution::ClientSide } else { Execution::Native }
                }
                _ => execution(phase),
            },
        });
        let holds = vec![Holds::Else; self.cell.tables.len()];
        Ok(Box::new(FileBench {
            phases: phases.collect(),
            oracle: Oracle::new(Arc::clone(&self.cell)),
            prepared: *self,
            database,
            holds,
            maintained: false,
            found: Found::default(),
            crew: None,
            done: Vec::new(),
            measured: Vec::new(),
            refused: None,
        }))
    }
}

impl PreparedCell {
    /// Operations of a full run; 0 of a question, which is repeated.
    fn ops(&self, phase: usize) -> u64 {
        match self.cell.work(phase) {
            Work::Insert { table, .. } => self.cell.tables[*table].loaded as u64,
            Work::Delete { removed: Removed::Older { .. }, .. } => 1,
            // By a time, or as many as are due in it.
            Work::Mix(mix) if mix.lasts.is_some() => 0,
            Work::Mix(mix) => mix.ops,
            work if is_question(work) => 0,
            work => draws::operations(work, &self.cell.draws[phase]),
        }
    }

    /// How the operations of a phase are committed.
    fn strategy(&self, phase: usize) -> Strategy {
        let (own, changes) = match self.cell.work(phase) {
            Work::Insert { commit, .. } => (*commit, true),
            Work::Update { commit, .. }
            | Work::ReadModifyWrite { commit, .. }
            | Work::Delete { removed: Removed::Keys { commit, .. }, .. } => (*commit, true),
            _ => (Commit::Each, false),
        };
        let is_insert = matches!(self.cell.work(phase), Work::Insert { .. });
        let commit = self.commit.filter(|commit| changes && (is_insert || *commit != Commit::Bulk));
        match commit.unwrap_or(own) {
            Commit::Each => Strategy::CommitEach,
            Commit::Rows(rows) => Strategy::Every(rows),
            Commit::All => Strategy::OneTransaction,
            Commit::Bulk => Strategy::Bulk,
        }
    }
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Its loaded rows, all and none else.
    Loaded,
    /// Anything else.
    Else,
}

struct FileBench {
    phases: Vec<OpenedPhase>,
    prepared: PreparedCell,
    oracle: Oracle,
    database: Box<dyn Database>,
    /// By table.
    holds: Vec<Holds>,
    /// Whether maintenance was done since anything changed.
    maintained: bool,
    found: Found,
    /// Clients that wait for the phase that is ready, where it has several.
    crew: Option<Crew>,
    /// What they did in its last run.
    done: Vec<Done>,
    /// What was measured of the parts of the last run of a mix.
    measured: Vec<Meter>,
    /// Why the phase that is ready cannot be done here.
    refused: Option<EngineError>,
}

impl FileBench {
    fn cell(&self) -> &Cell {
        &self.prepared.cell
    }

    /// Loads the tables that do not hold their rows, and has the engine maintain the database.
    fn make_ready(&mut self) -> Result<(), EngineError> {
        for table in 0..self.holds.len() {
            if self.holds[table] == Holds::Else {
                self.database.clear(table)?;
                let rows = self.cell().tables[table].loaded;
                self.database.bulk(table, rows, &mut Meter::new(None))?;
                self.database.flush()?;
                self.holds[table] = Holds::Loaded;
                self.maintained = false;
            }
        }
        if !self.maintained {
            self.database.lifecycle().maintain()?;
            self.maintained = true;
        }
        Ok(())
    }

    /// What several clients do in a phase, or one that does several things; none where there is one that
    /// does one.
    fn duties(&self, phase: usize) -> Result<Vec<Duty>, EngineError> {
        let PreparedCell { cell, clients, target_rate, seed, .. } = &self.prepared;
        match cell.work(phase) {
            Work::Mix(of) => mix::duties(cell, of, *seed),
            work if *clients > 1 && is_point(work) => {
                let ops = self.phases[phase].ops;
                Ok(mix::shared(phase, ops, *clients as usize, *target_rate))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether a phase cannot be done here: of a mix whether one of its parts cannot.
    fn refused(&self, phase: usize) -> Option<EngineError> {
        match self.cell().work(phase) {
            Work::Mix(mix) => {
                let mut parts = mix.parts.iter().map(|part| part.phase);
                let refused = parts.find_map(|part| self.database.execution(part).err());
                refused.or_else(|| self.duties(phase).err())
            }
            _ => self.database.execution(phase).err(),
        }
    }

    /// Has several clients, or one, do their duties.
    fn share(&mut self, phase: usize, meter: &mut Meter) -> Result<(), EngineError> {
        let cell = Arc::clone(&self.prepared.cell);
        self.done = match self.crew.take() {
            Some(crew) => crew.run(meter)?,
            None => {
                let mut done = Vec::new();
                for duty in self.duties(phase)? {
                    let (duty, no) = (Arc::new(duty), AtomicBool::new(false));
                    let meters = duty.meters(meter);
                    done.push(duty.perform(&mut *self.database, &cell, meters, &no)?);
                }
                done
            }
        };
        mix::gather(&self.done, meter);
        if let Work::Mix(mix) = cell.work(phase) {
            if mix.lasts.is_some() || mix::by_rates(&mix.parts) {
                meter.ended_in_time();
            }
            let parts = 0..mix.parts.len();
            self.measured = parts.map(|part| mix::of_part(&self.done, mix, part, meter)).collect();
        }
        Ok(())
    }

    fn perform(&mut self, phase: usize, meter: &mut Meter) -> Result<(), EngineError> {
        let Self { prepared, database, found, .. } = self;
        let (work, by) = (prepared.cell.work(phase), prepared.strategy(phase));
        if is_question(work) {
            return database.within(Scope::PerOperation, &mut |session| {
                meter.for_time(prepared.window, |i| session.perform(phase, i, found)).map(drop)
            });
        }
        match work {
            Work::Insert { table, .. } if by == Strategy::Bulk => {
                let rows = prepared.cell.tables[*table].loaded;
                found.changed = database.bulk(*table, rows, meter)?;
            }
            Work::Delete { removed: Removed::Older { .. }, .. } => {
                meter.once(|| {
                    loop {
                        found.more = false;
                        database.within(Scope::Batch, &mut |all| all.perform(phase, 0, found))?;
                        if !found.more {
                            return Ok(());
                        }
                    }
                })?;
            }
            Work::ReadModifyWrite { .. } if by == Strategy::CommitEach => {
                // Reading and writing are one transaction.
                meter.each(prepared.ops(phase), |i| {
                    database.within(Scope::Batch, &mut |both| both.perform(phase, i, found))
                })?;
            }
            _ => {
                let ops = prepared.ops(phase) as usize;
                by.each(ops, meter, |scope, part| {
                    let (mut part, mut done) = (Some(part), 0);
                    database.within(scope, &mut |session| {
                        if let Some(part) = part.take() {
                            done = part.each(|i| session.perform(phase, i, found))?;
                        }
                        Ok(())
                    })?;
                    Ok(done)
                })?;
            }
        }
        if changes_rows(work) { database.flush() } else { Ok(()) }
    }

    /// Compares a table with what must be in it: by a checksum, and where that is wrong row by row.
    fn compare(
        &mut self,
        table: usize,
        expected: Option<Checksum>,
        touched: &Touched,
        put: usize,
    ) -> Result<(), CheckError> {
        if let Some(expected) = expected {
            let mut got = Checksum::default();
            self.database.contents(table, &mut |row| got += fingerprint(row.iter().copied()))?;
            if got == expected {
                return Ok(());
            }
        }
        if expected.is_none() {
            return self.compare_rows(table, touched, put, false);
        }
        self.compare_rows(table, touched, put, true)?;
        Err(Difference("the rows of the table are not the rows expected".to_owned()).into())
    }

    /// The same row by row; `all`: whether it must hold them all.
    fn compare_rows(
        &mut self,
        table: usize,
        touched: &Touched,
        put: usize,
        all: bool,
    ) -> Result<(), CheckError> {
        let mut content = Content::new(&self.prepared.cell, table, touched, put);
        self.database.contents(table, &mut |row| content.see(row))?;
        Ok(content.finish(all)?)
    }

    /// Notes which tables a phase will leave otherwise than they were loaded.
    fn will_change(&mut self, work: &Work) {
        if changes_rows(work) {
            self.maintained = false;
            if let Some(table) = table_of(work) {
                self.holds[table] = Holds::Else;
            }
        }
        if let Work::Mix(mix) = work {
            for part in &mix.parts {
                let work = self.cell().work(part.phase);
                self.will_change(work);
            }
        }
    }
}

/// Whether the operations of a phase each concern a row or a range of rows, so that clients can share
/// them.
pub(super) const fn is_point(work: &Work) -> bool {
    !is_question(work)
        && !matches!(work, Work::Mix(_) | Work::Delete { removed: Removed::Older { .. }, .. })
}

pub(super) const fn changes_rows(work: &Work) -> bool {
    matches!(
        work,
        Work::Insert { .. }
            | Work::Update { .. }
            | Work::ReadModifyWrite { .. }
            | Work::Delete { .. }
    )
}

impl Bench for FileBench {
    fn phases(&self) -> &[OpenedPhase] {
        &self.phases
    }

    fn ready(&mut self, phase: usize) -> Result<(), EngineError> {
        self.found.empty();
        self.crew = None;
        (self.done, self.measured) = (Vec::new(), Vec::new());
        self.cell().begin();
        self.refused = self.refused(phase);
        if self.refused.is_some() {
            return Ok(());
        }
        let work = self.cell().work(phase);
        if let (Work::Insert { .. }, Some(table)) = (work, table_of(work)) {
            self.cell().tables[table].begin(0);
            self.database.clear(table)?;
            self.holds[table] = Holds::Else;
        } else {
            self.make_ready()?;
            if self.prepared.cold {
                self.database.reopen()?;
            }
        }
        let duties = self.duties(phase)?;
        if let Work::Mix(mix) = self.cell().work(phase) {
            for part in &mix.parts {
                self.database.ready(part.phase)?;
            }
        } else {
            self.database.ready(phase)?;
        }
        if duties.len() > 1 {
            let cell = Arc::clone(&self.prepared.cell);
            match Crew::begin(self.database.lifecycle(), &cell, duties) {
                Ok(crew) => self.crew = Some(crew),
                Err(error) if error.is_unsupported() => self.refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let work = self.cell().work(phase);
        self.will_change(work);
        if matches!(work, Work::Mix(_)) || self.crew.is_some() {
            self.share(phase, meter)?;
            return Ok(Answer::Count(meter.measured().ops));
        }
        let rate = self.prepared.target_rate.filter(|_| is_point(work));
        meter.set_schedule(rate.map(|rate| ArrivalSchedule::of(rate as f64, 1, 0)));
        meter.start();
        let done = self.perform(phase, meter);
        meter.stop();
        done?;
        if let Work::Insert { table, .. } = work
            && !meter.measured().capped
        {
            self.holds[*table] = Holds::Loaded;
        }
        // What was found is compared by `check`, which has it.
        Ok(Answer::Count(meter.measured().ops))
    }

    fn check(&mut self, phase: usize, _: &Answer, measured: Measured) -> Result<(), CheckError> {
        let (work, ops) = (self.cell().work(phase), measured.ops);
        let full = self.phases[phase].ops;
        // A mix ends, too, when the rows are used up that it inserts.
        let may_end = measured.capped || matches!(work, Work::Mix(_));
        if full != 0 && ops != full && !may_end {
            return Err(Difference(format!("{ops} of {full} operations were done")).into());
        }
        if !self.done.is_empty() {
            mixed::check_reads(self.cell(), &self.done)?;
            for (table, Left { put, touched }) in mixed::left(self.cell(), &self.done) {
                self.compare_rows(table, &touched, put, true)?;
            }
            return Ok(());
        }
        let tells = self.database.tells_changes();
        self.oracle.check(phase, ops, &self.found, tells)?;
        let Some(table) = table_of(work).filter(|_| changes_rows(work)) else { return Ok(()) };
        let touched = self.oracle.touched(phase, ops);
        let any = measured.capped
            && matches!(work, Work::Insert { .. })
            && leaves_any_rows(if self.prepared.strategy(phase) == Strategy::Bulk {
                Commit::Bulk
            } else {
                Commit::Each
            });
        let loaded = self.cell().tables[table].loaded;
        let (expected, put) = match work {
            Work::Insert { .. } if any => (None, loaded),
            Work::Insert { .. } => (Some(self.oracle.first(table, ops as usize)), ops as usize),
            _ => (Some(self.oracle.after(table, &touched)), loaded),
        };
        let same = self.compare(table, expected, &touched, put);
        if same.is_err() {
            self.holds[table] = Holds::Else;
        }
        same
    }

    fn once(&self, phase: usize) -> bool {
        matches!(self.cell().work(phase), Work::Mix(mix) if mix.lasts.is_some())
    }

    fn target_rate(&self, phase: usize) -> Option<f64> {
        match self.cell().work(phase) {
            Work::Mix(of) => mix::target_rate(of),
            _ => None,
        }
    }

    fn parts(&mut self, phase: usize) -> Vec<MeasuredPart> {
        let Work::Mix(mix) = self.cell().work(phase) else { return Vec::new() };
        let measured = std::mem::take(&mut self.measured);
        let parts = mix.parts.iter().zip(measured).zip(&self.prepared.parts[phase]);
        let parts = parts.map(|((part, meter), name)| MeasuredPart {
            name,
            execution: self.phases[part.phase].execution,
            meter,
            target_rate: mix::rate(part.pace),
        });
        parts.collect()
    }

    fn user_bytes(&self, phase: usize, ops: u64) -> Option<u64> {
        let Work::Insert { table, .. } = self.cell().work(phase) else { return None };
        let rows = &self.cell().tables[*table];
        Some((0..rows.loaded.min(ops as usize)).map(|place| rows.staged.user_bytes(place)).sum())
    }

    fn maintain_as_left(&mut self) -> Result<(), EngineError> {
        self.database.lifecycle().maintain()?;
        self.maintained = true;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), EngineError> {
        self.make_ready()?;
        self.database.close()
    }
}
