//! Does the work of a phase.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use embermark_contract::{EngineError, Scope};
use embermark_language::{Asked, End, Sequence, Work};
use embermark_meter::Meter;

use super::super::kind::{changes_at_once, changes_rows, is_question, one_by_one};
use super::super::port::Shared;
use super::super::{client_checks, mix};
use super::FileBench;
use crate::MeasuredPart;
use crate::strategy::{Part, Strategy};

impl FileBench {
    /// Lets the clients, or the only one, do their tasks.
    pub(super) fn share(&mut self, phase: usize, meter: &mut Meter) -> Result<(), EngineError> {
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
                if !adds_up || !matches!(work, Work::Latest { .. }) {
                    return meter
                        .each(ops, |i| {
                            session.perform(phase, i, found)?;
                            match work {
                                _ if adds_up => found.ends.push(found.result.len()),
                                // Answers to SQL questions are compared once.
                                Work::Sql(_) => {}
                                _ => different.see_short(i, found),
                            }
                            Ok(())
                        })
                        .map(drop);
                }
                let part = Part::new(meter, 0..ops);
                session.each(phase, Shared::only_client(part), found).map(drop)
            });
        }
        if is_question(work) {
            return database.within(phase, Scope::PerOperation, &mut |session| {
                let asked = meter.for_time(prepared.window, |i| {
                    session.perform(phase, i, found)?;
                    // Answers to SQL questions are compared once.
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
                self.outcome.write_behind = done.write_behind;
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
                    looked = all.find_rows(phase)?;
                    Ok(())
                })?;
                by.each(looked, meter, |scope, part| {
                    let (mut part, mut done) = (Some(part), 0);
                    database.within(phase, scope, &mut |session| {
                        if let Some(part) = part.take() {
                            done = session.change_each(phase, Shared::only_client(part), found)?;
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
                            done = session.each(phase, Shared::only_client(part), found)?;
                        }
                        Ok(())
                    })?;
                    Ok(done)
                })?;
            }
        }
        if changes_rows(work) { database.flush() } else { Ok(()) }
    }

    /// Does the insert, if there is one, and then each question once, or all questions again and
    /// again.
    fn perform_in_turn(
        &mut self,
        phase: usize,
        sequence: &Sequence,
        meter: &mut Meter,
    ) -> Result<(), EngineError> {
        if let Some(insert) = sequence.insert {
            self.perform(insert, meter)?;
        }
        let Self { prepared, database, by_step, different_by_step, .. } = self;
        let mut ask = |i: usize| {
            let steps = by_step.iter_mut().zip(&mut *different_by_step);
            sequence.questions.iter().zip(steps).try_for_each(|(question, (found, different))| {
                let cell = &prepared.cell;
                if !cell.adds_up(*question) {
                    database.within(*question, Scope::PerOperation, &mut |one| {
                        one.perform(*question, i, found)
                    })?;
                    if !matches!(cell.work(*question), Work::Sql(_)) {
                        different.see_short(i, found);
                    }
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
            (None, _) => meter.for_time(prepared.window, ask).map(drop),
        }
    }
}
