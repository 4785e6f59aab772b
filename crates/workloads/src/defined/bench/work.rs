//! Does the work of a phase.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use embermark_contract::{EngineError, Result, Scope};
use embermark_language::{Asked, End, Query, Sequence, Work};
use embermark_meter::Meter;

use super::super::kind::{changes_at_once, changes_rows, is_question, one_by_one};
use super::super::{Database, Session, Shared, client_checks, mix};
use super::FileBench;
use crate::MeasuredPart;
use crate::strategy::{Part, Strategy};

impl FileBench {
    /// Lets the clients, or the only one, do their tasks.
    pub(super) fn share(&mut self, phase: usize, meter: &mut Meter) -> Result<()> {
        let cell = Arc::clone(&self.prepared.cell);
        let done = match self.client_threads.take() {
            Some(client_threads) => client_threads.run(meter)?,
            None => {
                let mut done = Vec::new();
                for task in std::mem::take(&mut self.client_tasks) {
                    let (task, no) = (Arc::new(task), AtomicBool::new(false));
                    let meters = task.meters(meter);
                    done.push(task.perform(&mut *self.database, &cell, meters, &no)?);
                }
                done
            }
        };
        mix::gather(&done, meter);
        self.client_operations = client_checks::client_operations(&done);
        if let Work::Mix(mix) = cell.work(phase) {
            if mix.lasts.is_some() || mix::by_rates(&mix.parts) {
                meter.clear_capped();
            }
            if let Some(monitor) = self.monitor.take() {
                let names = mix.parts.iter().map(|part| &*cell.definition.phases[part.phase].name);
                let after = Duration::from_nanos(meter.measured().elapsed_ns);
                self.outcome.steady = Some(monitor.state(names, after));
            }
            let parts = mix.parts.iter().zip(&self.prepared.parts[phase]).enumerate();
            let parts = parts.map(|(place, (part, name))| MeasuredPart {
                name,
                execution: self.phases[part.phase].execution,
                meter: mix::of_part(&done, mix, place, meter),
                target_rate: mix::rate(part.pace),
            });
            self.outcome.parts = parts.collect();
        }
        Ok(())
    }

    /// Does the work of a phase that one client does.
    pub fn perform(&mut self, phase: usize, meter: &mut Meter) -> Result<()> {
        let work = self.cell().work(phase);
        match work {
            Work::Sequence(sequence) => return self.perform_in_turn(phase, sequence, meter),
            work if is_question(work) => return self.ask(phase, work, meter),
            Work::Open { reads, after, .. } => self.open_again(phase, *reads, *after, meter)?,
            Work::Insert { table, .. } if self.inserts_many(phase) => {
                self.insert_many(phase, *table, meter)?;
            }
            work => self.operate(phase, work, meter)?,
        }
        if changes_rows(work) { self.database.flush() } else { Ok(()) }
    }

    /// Asks a question once, a number of times, or for a time.
    fn ask(&mut self, phase: usize, work: &Work, meter: &mut Meter) -> Result<()> {
        let Self { prepared, database, found, different, .. } = self;
        let def = &prepared.cell.definition.phases[phase];
        if def.per_row {
            meter.once(|| {
                database.within(phase, Scope::PerOperation, &mut |all| all.perform(phase, 0, found))
            })?;
            meter.count(prepared.cell.met[phase].saturating_sub(1));
            return Ok(());
        }
        let (ops, adds_up) = (prepared.ops(phase), prepared.cell.adds_up(phase));
        let scope = if adds_up { Scope::Snapshot } else { Scope::PerOperation };
        database.within(phase, scope, &mut |session| {
            let done = if adds_up && matches!(work.query(), Some(Query::Latest { .. })) {
                session.each(phase, Shared::only_client(Part::new(meter, 0..ops)), found)
            } else if def.asked == Asked::ForTime {
                meter.for_time(prepared.spec.window, |i| {
                    session.perform(phase, i, found)?;
                    different.see(work, i, found);
                    Ok(())
                })
            } else {
                meter.each(ops, |i| {
                    session.perform(phase, i, found)?;
                    match adds_up {
                        true => found.ends.push(found.result.len()),
                        false => different.see_short(work, i, found),
                    }
                    Ok(())
                })
            };
            done.map(drop)
        })
    }

    /// Returns whether a phase hands many rows to the engine at once.
    fn inserts_many(&self, phase: usize) -> bool {
        self.prepared.csv[phase].is_some()
            || matches!(self.prepared.strategy(phase), Strategy::Bulk | Strategy::Batches(_))
    }

    /// Inserts rows by the fastest path, in batches, or from a buffer that another thread fills.
    fn insert_many(&mut self, phase: usize, table: usize, meter: &mut Meter) -> Result<()> {
        let Self { prepared, database, found, buffer, outcome, .. } = self;
        let (rows, by) = (&prepared.cell.tables[table], prepared.strategy(phase));
        if let Some(csv) = &prepared.csv[phase] {
            found.changed = if database.loads_csv() {
                let loaded = database.load_csv(table, &csv.file())?;
                meter.count(loaded);
                loaded
            } else {
                csv.parse(rows)?;
                database.bulk(table, None, meter)?
            };
        } else if let Some(buffer) = buffer.take() {
            let commit = &mut |rows| database.batch(table, rows, Some(phase));
            let done = buffer.insert(commit, meter)?;
            found.changed += done.stored;
            outcome.write_behind = done.write_behind;
        } else if let Strategy::Batches(size) = by {
            let (all, size) = (rows.loaded, size as usize);
            for from in (0..all).step_by(size) {
                if from > 0 && meter.expired() {
                    break;
                }
                let batch = from..all.min(from + size);
                let given = batch.len() as u64;
                found.changed += database.batch(table, batch, Some(phase))?;
                meter.count(given);
            }
        } else {
            found.changed = database.bulk(table, Some(phase), meter)?;
        }
        Ok(())
    }

    /// Opens the database again and again, and reads a row each time if the phase does.
    fn open_again(
        &mut self,
        phase: usize,
        reads: bool,
        after: End,
        meter: &mut Meter,
    ) -> Result<()> {
        let Self { prepared, database, found, .. } = self;
        if after != End::Close {
            database.lifecycle().crash_on_close()?;
        }
        let opened = meter.each(prepared.ops(phase), |i| {
            database.reopen()?;
            if !reads {
                return Ok(());
            }
            database.ready(phase, phase)?;
            database.within(phase, Scope::PerOperation, &mut |one| one.perform(phase, i, found))
        });
        opened.map(drop)
    }

    /// Does the operations of a phase on single rows, or its change of all rows that meet its
    /// conditions.
    fn operate(&mut self, phase: usize, work: &Work, meter: &mut Meter) -> Result<()> {
        let Self { prepared, database, found, .. } = self;
        let (by, database) = (prepared.strategy(phase), &mut **database);
        if one_by_one(work).is_some() {
            let mut looked = 0;
            database.within(phase, Scope::Snapshot, &mut |all| {
                looked = all.find_rows(phase)?;
                Ok(())
            })?;
            return in_transactions(by, looked, meter, database, phase, |session, part| {
                session.change_each(phase, part, found)
            });
        }
        if changes_at_once(work) {
            meter.once(|| {
                loop {
                    database
                        .within(phase, Scope::Batch, &mut |all| all.perform(phase, 0, found))?;
                    if !found.more {
                        return Ok::<_, EngineError>(());
                    }
                }
            })?;
            meter.count(prepared.cell.met[phase].saturating_sub(1));
            return Ok(());
        }
        let ops = prepared.ops(phase);
        if matches!(work, Work::ReadModifyWrite { .. }) && by == Strategy::CommitEach {
            // Reading and writing are one transaction.
            let done = meter.each(ops, |i| {
                database.within(phase, Scope::Batch, &mut |both| both.perform(phase, i, found))
            });
            return done.map(drop);
        }
        in_transactions(by, ops as usize, meter, database, phase, |session, part| {
            session.each(phase, part, found)
        })
    }

    /// Does the insert, if there is one, and then each question once, or all questions again and
    /// again.
    fn perform_in_turn(
        &mut self,
        phase: usize,
        sequence: &Sequence,
        meter: &mut Meter,
    ) -> Result<()> {
        if let Some(insert) = sequence.insert {
            self.perform(insert, meter)?;
        }
        let Self { prepared, database, by_step, .. } = self;
        let mut ask = |i: usize| {
            let mut steps = sequence.questions.iter().zip(&mut *by_step);
            steps.try_for_each(|(question, (found, different))| {
                let cell = &prepared.cell;
                if !cell.adds_up(*question) {
                    database.within(*question, Scope::PerOperation, &mut |one| {
                        one.perform(*question, i, found)
                    })?;
                    different.see_short(cell.work(*question), i, found);
                    return Ok(());
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
            (None, _) => meter.for_time(prepared.spec.window, ask).map(drop),
        }
    }
}

/// Does `n` operations of a phase, in transactions. `each` does those of a part in an open one.
fn in_transactions(
    by: Strategy,
    n: usize,
    meter: &mut Meter,
    database: &mut dyn Database,
    phase: usize,
    mut each: impl FnMut(&mut dyn Session, Shared<'_>) -> Result<u64>,
) -> Result<()> {
    let done = by.each(n, meter, |scope, part| {
        let (mut part, mut done) = (Some(part), 0);
        database.within(phase, scope, &mut |session| {
            if let Some(part) = part.take() {
                done = each(session, Shared::only_client(part))?;
            }
            Ok(())
        })?;
        Ok(done)
    });
    done.map(drop)
}
