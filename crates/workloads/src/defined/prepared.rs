//! A cell of a workload file, before its engine exists.

use std::ops::Range;
use std::sync::Arc;

use embermark_language::{Asked, Commit, Work};
use embermark_meter::Recorder;
use embermark_model::result::PhaseKind;

use super::csv::CsvRows;
use super::kind::{changes_at_once, is_question, is_read_in_one_snapshot, one_by_one};
use super::referees::Right;
use super::{Arena, Cell, keep, operation_keys};
use crate::Spec;
use crate::strategy::Strategy;
use crate::write_behind::Buffer;

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub cell: Arc<Cell>,
    pub spec: Spec,
    /// Names of the phases.
    pub names: Vec<&'static str>,
    /// Kinds of the phases.
    pub kinds: Vec<PhaseKind>,
    /// Whether another machine has opened the database. That machine loads the tables and checks
    /// the results of all clients.
    pub is_guest: bool,
    /// CSV file that each phase loads.
    pub csv: Vec<Option<CsvRows>>,
    /// Names of the parts of each mix.
    pub parts: Vec<Vec<&'static str>>,
    /// Right answer of each SQL question.
    pub right: Vec<Right>,
    /// Recorder of the first run of a `keep`, allocated before the engine exists.
    pub recorder: Option<Recorder>,
    /// Memory for what operations need.
    pub arena: Arena,
}

impl PreparedCell {
    /// Returns the operations of a full run. 0 for a question that is repeated.
    pub(super) fn ops(&self, phase: usize) -> u64 {
        match self.cell.work(phase) {
            Work::Insert { table, .. } => self.cell.tables[*table].loaded as u64,
            _ if self.cell.definition.phases[phase].per_row => self.cell.met[phase].max(1),
            work if one_by_one(work).is_some() => self.cell.met[phase].max(1),
            work if changes_at_once(work) => 1,
            Work::Keep(_) | Work::Arrive(_) => 0,
            // By a time, or as many as are due in it.
            Work::Mix(mix) if mix.lasts.is_some() => 0,
            Work::Mix(mix) => mix.ops,
            work if is_question(work) => match &self.cell.definition.phases[phase].asked {
                Asked::ForTime => 0,
                Asked::Times(ops) => ops.for_rows(self.cell.rows_of(phase).loaded as u64),
                Asked::Each { .. } => self.cell.each[phase].len() as u64,
            },
            Work::Sequence(sequence) => sequence.insert.map_or(0, |insert| self.ops(insert)),
            work => {
                let rows = self.cell.rows_of(phase).loaded;
                operation_keys::operations(work, rows, &self.cell.operation_keys[phase])
            }
        }
    }

    /// Returns the operations of a phase that can be laid out before a clock starts. For an insert,
    /// that is the positions of its rows, which in a mix follow the loaded ones.
    pub(super) fn operations(&self, phase: usize, in_mix: bool) -> Range<usize> {
        match self.cell.work(phase) {
            // Several clients insert rows one by one, and each encodes its own.
            Work::Insert { .. }
                if !in_mix && self.spec.clients > 1 && self.strategy(phase) == Strategy::Bulk =>
            {
                0..0
            }
            Work::Insert { table, .. } => {
                let rows = &self.cell.tables[*table];
                if in_mix { rows.loaded..rows.staged.rows() } else { 0..rows.loaded }
            }
            _ if in_mix => 0..self.cell.operation_keys[phase].len(),
            _ => 0..self.ops(phase) as usize,
        }
    }

    /// Returns the most bytes that the operations of any phase need, or those of a mix together.
    pub(super) fn room(&self) -> usize {
        if let Some(keep) = self.cell.definition.keep() {
            return keep::LAID_AT_ONCE * self.cell.tables[keep.table].bytes();
        }
        let bytes = |phase: usize, in_mix: bool| {
            let work = self.cell.work(phase);
            let operations = self.operations(phase, in_mix).len();
            match work.table() {
                Some(table) if matches!(work, Work::Insert { .. } | Work::Upsert { .. }) => {
                    operations * self.cell.tables[table].bytes()
                }
                Some(table) if self.cell.knows_keys(phase) => {
                    operations * self.cell.tables[table].key_bytes()
                }
                _ => 0,
            }
        };
        let phases = 0..self.cell.definition.phases.len();
        let room = phases.map(|phase| match self.cell.work(phase) {
            Work::Mix(mix) => mix.parts.iter().map(|part| bytes(part.phase, true)).sum(),
            // Its insert has room as a phase of its own, and questions need none.
            _ => bytes(phase, false),
        });
        room.max().unwrap_or_default()
    }

    /// Returns the buffer of an insert whose rows another thread commits.
    pub(super) fn buffer(&self, phase: usize) -> Option<Buffer> {
        let insert = self.cell.work(self.cell.insert_of(phase)?);
        let Work::Insert { table, commit: Commit::Behind { batch, offered }, .. } = insert else {
            return None;
        };
        if self.cell.commit.is_some() {
            return None;
        }
        let most = usize::try_from(*batch).unwrap_or(usize::MAX);
        Some(Buffer::new(self.cell.tables[*table].loaded, *offered, most))
    }

    /// Returns how the operations of a phase are committed.
    pub(super) fn strategy(&self, phase: usize) -> Strategy {
        if is_read_in_one_snapshot(self.cell.work(phase)) {
            return Strategy::Snapshot;
        }
        let work = self.cell.work(phase);
        let takes =
            |commit: &Commit| *commit != Commit::Bulk || matches!(work, Work::Insert { .. });
        let commit = match work.commit() {
            Some(own) => self.cell.commit.filter(takes).unwrap_or(own),
            None => one_by_one(work).unwrap_or(Commit::Each),
        };
        match commit {
            Commit::Each => Strategy::CommitEach,
            Commit::Rows(rows) => Strategy::Every(rows),
            Commit::Batch(rows) | Commit::Behind { batch: rows, .. } => Strategy::Batches(rows),
            Commit::All => Strategy::OneTransaction,
            Commit::Bulk | Commit::Csv => Strategy::Bulk,
        }
    }
}
