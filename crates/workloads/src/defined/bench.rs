//! A workload file on one database.

use std::sync::Arc;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Scope, Store};
use embermark_language::{Commit, Removed, Work};
use embermark_meter::{ArrivalSchedule, Measured, Meter};
use embermark_model::answer::{Answer, Difference};
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;

use super::cell::{Cell, is_question, table_of};
use super::family;
use super::oracle::{Content, Oracle, Touched, leaves_any_rows};
use super::port::{Database, Found, fingerprint};
use crate::{Bench, CheckError, OpenedPhase, Prepared, Strategy};

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
        let phases = self.names.iter().enumerate().map(|(phase, name)| OpenedPhase {
            name,
            ops: self.ops(phase),
            execution: database.execution(phase).unwrap_or(Execution::Native),
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
            work if is_question(work) => 0,
            _ => self.cell.draws[phase].operations(),
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
                meter.each(prepared.cell.draws[phase].operations(), |i| {
                    database.within(Scope::Batch, &mut |both| both.perform(phase, i, found))
                })?;
            }
            _ => {
                let ops = match work {
                    Work::Insert { table, .. } => prepared.cell.tables[*table].loaded,
                    _ => prepared.cell.draws[phase].operations() as usize,
                };
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
        let cell = Arc::clone(&self.prepared.cell);
        let mut content = Content::new(&cell, table, touched, put);
        self.database.contents(table, &mut |row| content.see(row))?;
        if expected.is_none() {
            return Ok(content.finish_some()?);
        }
        content.finish()?;
        Err(Difference("the rows of the table are not the rows expected".to_owned()).into())
    }
}

const fn changes_rows(work: &Work) -> bool {
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
        self.refused = self.database.execution(phase).err();
        if self.refused.is_some() {
            return Ok(());
        }
        let work = self.cell().work(phase);
        if let (Work::Insert { .. }, Some(table)) = (work, table_of(work)) {
            self.database.clear(table)?;
            self.holds[table] = Holds::Else;
        } else {
            self.make_ready()?;
            if self.prepared.cold {
                self.database.reopen()?;
            }
        }
        self.database.ready(phase)
    }

    fn run(&mut self, phase: usize, meter: &mut Meter) -> Result<Answer, EngineError> {
        if let Some(refused) = self.refused.take() {
            return Err(refused);
        }
        let work = self.cell().work(phase);
        if changes_rows(work) {
            self.maintained = false;
            if let Some(table) = table_of(work) {
                self.holds[table] = Holds::Else;
            }
        }
        let is_point = !is_question(work) && self.prepared.strategy(phase) != Strategy::Bulk;
        let rate = self.prepared.target_rate.filter(|_| is_point);
        meter.set_schedule(rate.map(|rate| ArrivalSchedule::of(rate, 1, 0)));
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
        if full != 0 && ops != full && !measured.capped {
            return Err(Difference(format!("{ops} of {full} operations were done")).into());
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
