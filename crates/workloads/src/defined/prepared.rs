//! A cell of a workload file before its engine is met.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use embermark_contract::{EngineError, Reopener, Store};
use embermark_language::{Commit, Removed, Work};

use super::bench::FileBench;
use super::cell::{Cell, is_question};
use super::referees::Right;
use super::{draws, family};
use crate::{Bench, Prepared, Strategy};

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
    /// By phase, of a question in SQL: what is right.
    pub right: Vec<Right>,
    /// Beside which rows the answers are kept that other engines are held to, of a referee.
    pub keeps: Option<PathBuf>,
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
        Ok(Box::new(FileBench::new(*self, database)))
    }
}

impl PreparedCell {
    /// Operations of a full run; 0 of a question, which is repeated.
    pub(super) fn ops(&self, phase: usize) -> u64 {
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
    pub(super) fn strategy(&self, phase: usize) -> Strategy {
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
