//! The work of a phase, and what must be done before.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use embermark_contract::{EngineError, Scope};
use embermark_language::{Asked, End, Sequence, Work};
use embermark_meter::Meter;

use super::super::crew::Duty;
use super::super::kind::{changes_at_once, changes_rows, is_point, is_question, one_by_one};
use super::super::mix;
use super::super::mixed;
use super::super::port::Shared;
use super::super::prepared::PreparedCell;
use super::{FileBench, Holds};
use crate::MeasuredPart;
use crate::strategy::{Part, Strategy};

/// Rows of a batch that goes in before the database is left as a crash leaves it.
const BATCH: usize = 1_000;

impl FileBench {
    /// Makes the table anew that an insert fills, which a phase is or begins with, and the others ready that the
    /// phase asks.
    pub(super) fn make_fresh(&mut self, phase: usize, insert: usize) -> Result<(), EngineError> {
        let Some(table) = self.cell().work(insert).table() else { return Ok(()) };
        let parts = self.cell().parts_of(phase);
        let mut asked = parts.iter().filter_map(|part| self.cell().work(*part).table());
        if asked.any(|asked| asked != table) {
            self.make_ready_beside(Some(table))?;
        }
        self.cell().tables[table].begin(0);
        self.database.clear(table)?;
        self.holds[table] = Holds::Else;
        Ok(())
    }

    /// Loads the tables that do not hold their rows, and has the engine maintain the database.
    pub(super) fn make_ready(&mut self) -> Result<(), EngineError> {
        self.make_ready_beside(None)
    }

    /// The same of all tables but one.
    fn make_ready_beside(&mut self, fresh: Option<usize>) -> Result<(), EngineError> {
        for table in 0..self.holds.len() {
            if self.holds[table] == Holds::Else && fresh != Some(table) {
                self.database.clear(table)?;
                let rows = self.cell().tables[table].loaded;
                self.database.bulk(table, rows, None, &mut Meter::new(None))?;
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

    /// Leaves the database as batches of inserts do, with no maintenance after them: with every row of the table in its
    /// log, where a phase is to find it so.
    pub(super) fn make_log(&mut self, table: usize, after: End) -> Result<(), EngineError> {
        self.make_ready_beside(Some(table))?;
        self.holds[table] = Holds::Else;
        self.database.clear(table)?;
        let (rows, mut bytes) = (self.cell().tables[table].loaded, 0);
        if after == End::CrashWithLog {
            // A checkpoint first, so that the log holds these rows alone.
            self.database.lifecycle().maintain()?;
            let of = &self.cell().tables[table];
            let most = (rows * of.bytes()) as u64;
            bytes = (0..rows).map(|place| of.staged.user_bytes(place)).sum();
            self.database.lifecycle().suspend_checkpoints(most.max(bytes))?;
        }
        for from in (0..rows).step_by(BATCH) {
            self.database.batch(table, from..rows.min(from + BATCH), None)?;
        }
        self.database.flush()?;
        (self.holds[table], self.maintained) = (Holds::Inserted, false);
        if after == End::CrashWithLog {
            let log = self.database.lifecycle().log_bytes()?;
            if log < bytes {
                let why = format!("it has {log} bytes, and the rows' values have {bytes}");
                return Err(EngineError::failed("the engine", "keep every row in its log", why));
            }
            self.told.log_bytes = Some(log);
        }
        Ok(())
    }

    /// What several clients do in a phase, or one that does several things; none where there is one that
    /// does one.
    pub(super) fn duties_of(&self, phase: usize) -> Result<Vec<Duty>, EngineError> {
        let PreparedCell { cell, clients, own_clients, target_rate, seed, .. } = &self.prepared;
        match cell.work(phase) {
            Work::Mix(of) => mix::duties(cell, of, *seed, self.board.as_ref()),
            work if *clients > 1 && is_point(work) => {
                let ops = self.phases[phase].ops;
                let mut all = mix::shared(phase, ops, *clients as usize, *target_rate);
                if let Some(own) = own_clients {
                    all.retain(|duty| own.contains(&(duty.client as u32)));
                }
                Ok(all)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Whether a phase cannot be done here: of a mix whether one of its parts cannot.
    pub(super) fn refused(&mut self, phase: usize) -> Option<EngineError> {
        if let Some(refused) = self.refused_by_client(phase) {
            return Some(refused);
        }
        match self.cell().work(phase) {
            Work::Open { reads: false, .. } if self.database.lifecycle().connects_by_request() => {
                let why = "opening without a read is nothing that can be timed: this engine's client \
                           connects with its first request";
                Some(EngineError::impossible(why))
            }
            work => {
                if let Work::Keep(keep) = work
                    && let Err(refused) = self.database.keeps(keep)
                {
                    return Some(refused);
                }
                let mut parts = self.cell().parts_of(phase).into_iter();
                parts.find_map(|part| self.database.execution(part).err())
            }
        }
    }

    /// Has several clients, or one, do their duties.
    pub(super) fn share(&mut self, phase: usize, meter: &mut Meter) -> Result<(), EngineError> {
        let cell = Arc::clone(&self.prepared.cell);
        let done = match self.crew.take() {
            Some(crew) => crew.run(meter)?,
            None => {
                let mut done = Vec::new();
                for duty in std::mem::take(&mut self.duties) {
                    let (duty, no) = (Arc::new(duty), AtomicBool::new(false));
                    let meters = duty.meters(meter);
                    done.push(duty.perform(&mut *self.database, &cell, meters, &no)?);
                }
                done
            }
        };
        mix::gather(&done, meter);
        self.did = mixed::did(&done);
        if let Work::Mix(mix) = cell.work(phase) {
            if mix.lasts.is_some() || mix::by_rates(&mix.parts) {
                meter.ended_in_time();
            }
            if let Some(board) = self.board.take() {
                let names = mix.parts.iter().map(|part| &*cell.definition.phases[part.phase].name);
                let after = Duration::from_nanos(meter.measured().elapsed_ns);
                self.told.steady = Some(board.state(names, after));
            }
            let parts = mix.parts.iter().zip(&self.prepared.parts[phase]).enumerate();
            let parts = parts.map(|(place, (part, name))| MeasuredPart {
                name,
                execution: self.phases[part.phase].execution,
                meter: mix::of_part(&done, mix, place, meter),
                target_rate: mix::rate(part.pace),
            });
            self.told.parts = parts.collect();
        }
        Ok(())
    }

    pub(in super::super) fn perform(
        &mut self,
        phase: usize,
        meter: &mut Meter,
    ) -> Result<(), EngineError> {
        if let Work::Sequence(sequence) = self.cell().work(phase) {
            return self.perform_in_turn(phase, sequence, meter);
        }
        let Self { prepared, database, found, different, .. } = self;
        let (work, by) = (prepared.cell.work(phase), prepared.strategy(phase));
        let rows = prepared.cell.met[phase];
        if prepared.cell.definition.phases[phase].per_row && is_question(work) {
            meter.once(|| {
                database.within(phase, Scope::PerOperation, &mut |all| all.perform(phase, 0, found))
            })?;
            meter.count(rows.saturating_sub(1));
            return Ok(());
        }
        let asked = &prepared.cell.definition.phases[phase].asked;
        if is_question(work) && *asked != Asked::ForTime {
            let (ops, adds_up) = (prepared.ops(phase), prepared.cell.adds_up(phase));
            let scope = if adds_up { Scope::Snapshot } else { Scope::PerOperation };
            return database.within(phase, scope, &mut |session| {
                if adds_up && !matches!(work, Work::Latest { .. }) {
                    return meter
                        .each(ops, |i| {
                            session.perform(phase, i, found)?;
                            found.ends.push(found.result.len());
                            Ok(())
                        })
                        .map(drop);
                }
                let part = Part::of(meter, 0..ops);
                session.each(phase, Shared::alone(part), found).map(drop)
            });
        }
        if is_question(work) {
            return database.within(phase, Scope::PerOperation, &mut |session| {
                let asked = meter.for_time(prepared.window, |i| {
                    session.perform(phase, i, found)?;
                    // What others say is right is compared once.
                    if !matches!(work, Work::Sql(_)) {
                        different.see(i, found);
                    }
                    Ok::<_, EngineError>(())
                });
                asked.map(drop)
            });
        }
        match work {
            Work::Insert { table, .. } if let Some(csv) = &prepared.csv[phase] => {
                found.changed = if database.loads_csv() {
                    let loaded = database.load_csv(*table, &csv.file())?;
                    meter.count(loaded);
                    loaded
                } else {
                    let rows = &prepared.cell.tables[*table];
                    csv.parse(rows)?;
                    database.bulk(*table, rows.loaded, None, meter)?
                };
            }
            Work::Insert { table, .. } if by == Strategy::Bulk => {
                let rows = prepared.cell.tables[*table].loaded;
                found.changed = database.bulk(*table, rows, Some(phase), meter)?;
            }
            Work::Insert { table, .. } if let Some(buffer) = self.buffer.take() => {
                let commit = &mut |rows| database.batch(*table, rows, Some(phase));
                let done = buffer.insert(commit, meter)?;
                found.changed += done.stored;
                self.told.write_behind = done.write_behind;
            }
            Work::Insert { table, .. } if let Strategy::Batches(rows) = by => {
                let (all, size) = (prepared.cell.tables[*table].loaded, rows as usize);
                for from in (0..all).step_by(size) {
                    if from > 0 && meter.expired() {
                        break;
                    }
                    let batch = from..all.min(from + size);
                    let given = batch.len() as u64;
                    found.changed += database.batch(*table, batch, Some(phase))?;
                    meter.count(given);
                }
            }
            Work::Open { reads, after, .. } => {
                if *after != End::Close {
                    database.lifecycle().crash_on_close()?;
                }
                meter.each(prepared.ops(phase), |i| {
                    database.reopen()?;
                    if !reads {
                        return Ok(());
                    }
                    database.ready(phase, phase)?;
                    let each = Scope::PerOperation;
                    database.within(phase, each, &mut |one| one.perform(phase, i, found))
                })?;
            }
            work if one_by_one(work).is_some() => {
                let mut looked = 0;
                database.within(phase, Scope::Snapshot, &mut |all| {
                    looked = all.look(phase)?;
                    Ok(())
                })?;
                by.each(looked, meter, |scope, part| {
                    let (mut part, mut done) = (Some(part), 0);
                    database.within(phase, scope, &mut |session| {
                        if let Some(part) = part.take() {
                            done = session.change_each(phase, Shared::alone(part), found)?;
                        }
                        Ok(())
                    })?;
                    Ok(done)
                })?;
            }
            work if changes_at_once(work) => {
                meter.once(|| {
                    loop {
                        database
                            .within(phase, Scope::Batch, &mut |all| all.perform(phase, 0, found))?;
                        if !found.more {
                            return Ok(());
                        }
                    }
                })?;
                meter.count(rows.saturating_sub(1));
            }
            Work::ReadModifyWrite { .. } if by == Strategy::CommitEach => {
                // Reading and writing are one transaction.
                meter.each(prepared.ops(phase), |i| {
                    database.within(phase, Scope::Batch, &mut |both| both.perform(phase, i, found))
                })?;
            }
            _ => {
                let ops = prepared.ops(phase) as usize;
                by.each(ops, meter, |scope, part| {
                    let (mut part, mut done) = (Some(part), 0);
                    database.within(phase, scope, &mut |session| {
                        if let Some(part) = part.take() {
                            done = session.each(phase, Shared::alone(part), found)?;
                        }
                        Ok(())
                    })?;
                    Ok(done)
                })?;
            }
        }
        if changes_rows(work) { database.flush() } else { Ok(()) }
    }

    /// Does an insert, if there is one, and then each question, once; or all questions again and again.
    fn perform_in_turn(
        &mut self,
        phase: usize,
        sequence: &Sequence,
        meter: &mut Meter,
    ) -> Result<(), EngineError> {
        if let Some(insert) = sequence.insert {
            self.perform(insert, meter)?;
        }
        let Self { prepared, database, by_step, .. } = self;
        let mut ask = |i: usize| {
            sequence.questions.iter().zip(&mut *by_step).try_for_each(|(question, found)| {
                let cell = &prepared.cell;
                if !cell.adds_up(*question) {
                    return database.within(*question, Scope::PerOperation, &mut |one| {
                        one.perform(*question, i, found)
                    });
                }
                found.empty();
                database.within(*question, Scope::Snapshot, &mut |all| {
                    (0..cell.each[*question].len()).try_for_each(|i| {
                        all.perform(*question, i, found)?;
                        found.ends.push(found.result.len());
                        Ok(())
                    })
                })
            })
        };
        match (sequence.insert, prepared.ops(phase)) {
            (Some(_), _) => ask(0),
            (None, ops) if ops > 0 => meter.each(ops, ask).map(drop),
            (None, _) => meter.for_time(prepared.window, ask).map(drop),
        }
    }

    /// Notes which tables a phase will leave otherwise than they were loaded.
    pub(super) fn will_change(&mut self, work: &Work) {
        if changes_rows(work) {
            self.maintained = false;
            if let Some(table) = work.table() {
                self.holds[table] = Holds::Else;
            }
        }
        let parts: Vec<usize> = match work {
            Work::Mix(mix) => mix.parts.iter().map(|part| part.phase).collect(),
            Work::Sequence(sequence) => sequence.insert.into_iter().collect(),
            Work::Keep(keep) => vec![keep.insert],
            _ => Vec::new(),
        };
        for part in parts {
            self.will_change(self.prepared.cell.work(part));
        }
    }
}
