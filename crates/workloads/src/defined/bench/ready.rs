//! Prepares the database and the clients for a phase.

use std::sync::Arc;

use embermark_contract::{EngineError, Result};
use embermark_language::{End, Work};
use embermark_meter::Meter;

use super::super::client_task::ClientTask;
use super::super::client_threads::ClientThreads;
use super::super::kind::{changes_rows, is_point};
use super::super::mix;
use super::super::prepared::PreparedCell;
use super::super::steady_state::SteadyStateMonitor;
use super::{FileBench, TableState};
use crate::Outcome;

/// Rows per batch that is inserted before the database is left as a crash leaves it.
const BATCH: usize = 1_000;

impl FileBench {
    /// Brings the database into the state in which a phase begins, and connects its clients.
    pub(super) fn make_phase_ready(&mut self, phase: usize) -> Result<()> {
        let work = self.cell().work(phase);
        self.forget_found();
        self.client_threads = None;
        (self.client_operations, self.outcome) = (Vec::new(), Outcome::default());
        self.cell().begin();
        (self.buffer, self.poster) = (self.prepared.buffer(phase), None);
        self.monitor = match work {
            Work::Mix(mix) if mix.until_steady => {
                Some(Arc::new(SteadyStateMonitor::new(mix.parts.len())))
            }
            _ => None,
        };
        if let Work::Sequence(sequence) = work {
            self.by_step.resize_with(sequence.questions.len(), Default::default);
        }
        match self.refused(phase).map_or_else(|| self.client_tasks_for(phase), Err) {
            Ok(client_tasks) => self.client_tasks = client_tasks,
            Err(error) => {
                self.refused = Some(error);
                return Ok(());
            }
        }
        match work {
            Work::Keep(keep) => return self.ready_to_keep(phase, keep),
            Work::Arrive(arrive) => return self.ready_to_arrive(phase, arrive),
            Work::Open { table, after, .. } if *after != End::Close && !self.prepared.is_guest => {
                let log = self.make_log(*table, *after);
                if self.unless_refused(log)?.is_none() {
                    return Ok(());
                }
            }
            _ => self.make_tables_ready(phase, work)?,
        }
        let (parts, insert) = (self.cell().parts_of(phase), self.cell().insert_of(phase));
        self.lay_out(&parts, matches!(work, Work::Mix(_)));
        let mut parts = parts.into_iter();
        let prepared = parts.try_for_each(|part| self.database.ready(part, insert.unwrap_or(part)));
        if self.unless_refused(prepared)?.is_none() {
            return Ok(());
        }
        let poster = self.client_of(phase);
        let Some(poster) = self.unless_refused(poster)? else { return Ok(()) };
        self.poster = poster;
        if self.client_tasks.len() > 1
            || (self.prepared.spec.own_clients.is_some() && !self.client_tasks.is_empty())
        {
            let (tasks, cell) =
                (std::mem::take(&mut self.client_tasks), Arc::clone(&self.prepared.cell));
            let lifecycle = self.database.lifecycle();
            let connected = ClientThreads::connect(lifecycle, &cell, &self.arena, tasks);
            self.client_threads = self.unless_refused(connected)?;
        }
        Ok(())
    }

    /// Returns what is ready, unless the phase is unsupported. The error is then that of its run.
    pub(super) fn unless_refused<T>(&mut self, ready: Result<T>) -> Result<Option<T>> {
        match ready {
            Err(error) if error.is_unsupported() => {
                self.refused = Some(error);
                Ok(None)
            }
            ready => ready.map(Some),
        }
    }

    /// Clears what was found.
    pub(super) fn forget_found(&mut self) {
        self.found.empty();
        self.different.clear();
        for (found, different) in &mut self.by_step {
            found.empty();
            different.clear();
        }
    }

    /// Brings the tables into the state in which a phase begins.
    fn make_tables_ready(&mut self, phase: usize, work: &Work) -> Result<()> {
        if self.prepared.is_guest {
            self.cell().tables.iter().for_each(|rows| rows.begin(0));
            return Ok(());
        }
        if let Some(insert) = self.cell().insert_of(phase) {
            return self.make_fresh(phase, insert);
        }
        // All runs of a phase that changes rows must find the same.
        if let (true, Some(table)) = (changes_rows(work), work.table())
            && self.table_states[table] == TableState::Inserted
        {
            self.table_states[table] = TableState::Else;
        }
        self.make_ready()?;
        if self.prepared.spec.cold { self.database.reopen() } else { Ok(()) }
    }

    /// Creates the table of the insert that a phase is or begins with, and loads the other tables
    /// that it reads.
    pub(super) fn make_fresh(&mut self, phase: usize, insert: usize) -> Result<()> {
        let Some(table) = self.cell().work(insert).table() else { return Ok(()) };
        let parts = self.cell().parts_of(phase);
        let mut asked = parts.iter().filter_map(|part| self.cell().work(*part).table());
        if asked.any(|asked| asked != table) {
            self.make_ready_beside(Some(table))?;
        }
        self.cell().tables[table].begin(0);
        self.database.clear(table)?;
        self.table_states[table] = TableState::Else;
        Ok(())
    }

    /// Loads tables that do not have their rows, and runs maintenance.
    pub(super) fn make_ready(&mut self) -> Result<()> {
        self.make_ready_beside(None)
    }

    /// Loads all tables but one, and runs maintenance.
    fn make_ready_beside(&mut self, fresh: Option<usize>) -> Result<()> {
        for table in 0..self.table_states.len() {
            if self.table_states[table] == TableState::Else && fresh != Some(table) {
                self.database.clear(table)?;
                self.database.bulk(table, None, &mut Meter::new(None))?;
                self.database.flush()?;
                self.table_states[table] = TableState::Loaded;
                self.maintained = false;
            }
        }
        if !self.maintained {
            self.database.lifecycle().maintain()?;
            self.maintained = true;
        }
        Ok(())
    }

    /// Leaves the database as batches of inserts do, without maintenance. If a phase needs it,
    /// every row of the table is in the log.
    pub(super) fn make_log(&mut self, table: usize, after: End) -> Result<()> {
        self.make_ready_beside(Some(table))?;
        self.table_states[table] = TableState::Else;
        self.database.clear(table)?;
        let (rows, mut bytes) = (self.cell().tables[table].loaded, 0);
        if after == End::CrashWithLog {
            // After a checkpoint, the log has only these rows.
            self.database.lifecycle().maintain()?;
            let of = &self.cell().tables[table];
            let most = (rows * of.bytes()) as u64;
            bytes = of.user_bytes(rows);
            self.database.lifecycle().suspend_checkpoints(most.max(bytes))?;
        }
        for from in (0..rows).step_by(BATCH) {
            self.database.batch(table, from..rows.min(from + BATCH), None)?;
        }
        self.database.flush()?;
        (self.table_states[table], self.maintained) = (TableState::Inserted, false);
        if after == End::CrashWithLog {
            let log = self.database.lifecycle().log_bytes()?;
            if log < bytes {
                let why = format!("it has {log} bytes, and the rows' values have {bytes}");
                return Err(EngineError::failed("the engine", "keep every row in its log", why));
            }
            self.outcome.log_bytes = Some(log);
        }
        Ok(())
    }

    /// Returns the tasks of several clients, or of one that does several things. Empty if one
    /// client does one thing.
    pub(super) fn client_tasks_for(&self, phase: usize) -> Result<Vec<ClientTask>> {
        let PreparedCell { cell, spec, .. } = &self.prepared;
        match cell.work(phase) {
            Work::Mix(of) => mix::client_tasks(cell, of, spec.seed, self.monitor.as_ref()),
            work if spec.clients > 1 && is_point(work) => {
                let ops = self.phases[phase].ops;
                let mut all = mix::shared(phase, ops, spec.clients as usize, spec.target_rate);
                if let Some(own) = &spec.own_clients {
                    all.retain(|task| own.contains(&(task.client as u32)));
                }
                Ok(all)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns why a phase cannot be done. For a mix, why one of its parts cannot.
    pub(super) fn refused(&mut self, phase: usize) -> Option<EngineError> {
        if let Some(refused) = self.refused_by_foreign_client(phase) {
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

    /// Notes which tables a phase will change.
    pub(super) fn will_change(&mut self, phase: usize) {
        for part in self.cell().parts_of(phase) {
            let work = self.cell().work(part);
            if !changes_rows(work) {
                continue;
            }
            self.maintained = false;
            if let Some(table) = work.table() {
                self.table_states[table] = TableState::Else;
            }
        }
    }
}
