//! The interface between a workload file and a database. Each family of stores implements it once.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use embermark_contract::sql::CsvFile;
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::Keep;
use embermark_meter::Meter;
use embermark_model::answer;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::result::Execution;
use embermark_model::table::Value;

use super::Arena;
use crate::strategy::Part;

/// The tables of a workload file in a database. Phases and tables are named by their index in the
/// file. Each implementation is built with a [cell](super::cell::Cell), which knows the rows, keys,
/// and values of each operation.
pub(super) trait Database {
    /// Returns the operations that stores of every family share.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Returns whether the engine or client code does a phase.
    ///
    /// # Errors
    /// Unsupported, with the reason, where this family or engine cannot express it. Never called
    /// for a mix.
    fn execution(&self, phase: usize) -> Result<Execution>;

    /// Returns whether the engine or client code did most of the operations of a phase since it was
    /// ready, if either of two copies of the data could.
    fn answered_by(&self, _phase: usize) -> Option<Execution> {
        None
    }

    /// Returns whether the engine reports how many rows an operation changed.
    fn reports_changes(&self) -> bool {
        true
    }

    /// Creates a table and its indexes, empty. Drops an existing one.
    fn clear(&mut self, table: usize) -> Result<()>;

    /// Encodes these operations of a phase into the arena. Outside the clock.
    fn lay_out(&self, phase: usize, operations: Range<usize>, arena: &mut Arena);

    /// Takes the encoded operations of the phases that run next, and drops earlier ones.
    fn take(&mut self, arena: Arc<Arena>);

    /// Returns the fingerprint of a row in [`Found::rows`] of a phase, from the bytes of
    /// its pair. `None`: from the values that the phase reads.
    fn print(&self, _phase: usize, _row: &[Value<'_>]) -> Option<Fingerprint> {
        None
    }

    /// Prepares the statements of a phase. The settings of the run are those of `lead`: the same
    /// phase, or the insert at the start of a sequence. Outside the clock.
    fn ready(&mut self, _phase: usize, _lead: usize) -> Result<()> {
        Ok(())
    }

    /// Loads the rows of a table by the engine's fastest path while the meter has time, and counts
    /// them in it. Returns their number. Rows of a `phase` can be laid out beforehand.
    fn bulk(&mut self, table: usize, phase: Option<usize>, meter: &mut Meter) -> Result<u64>;

    /// Inserts these rows of a table at once, as one commit where the engine has transactions.
    /// Returns the number that the engine reports. Rows of a `phase` can be laid out beforehand.
    fn batch(&mut self, table: usize, rows: Range<usize>, phase: Option<usize>) -> Result<u64>;

    /// Returns whether the engine itself loads CSV files.
    fn loads_csv(&self) -> bool {
        false
    }

    /// Loads a CSV file into an empty table. Returns the number of rows that the engine reports.
    ///
    /// # Errors
    /// Unsupported where the engine does not load CSV files.
    fn load_csv(&mut self, _table: usize, _file: &CsvFile<'_>) -> Result<u64> {
        Err(EngineError::unsupported("this engine", "to load a CSV file by itself"))
    }

    /// Checks that old rows of a table can expire by such steps of time.
    ///
    /// # Errors
    /// Unsupported, with the reason.
    fn keeps(&self, _keep: &Keep) -> Result<()> {
        Ok(())
    }

    /// Creates an empty table that keeps a window of rows, with room for its first time step.
    fn clear_kept(&mut self, keep: &Keep, _first: &TimeStep) -> Result<()> {
        self.clear(keep.table)
    }

    /// Begins a time step: creates its partition, if steps have partitions. Not called
    /// for the first.
    fn begin(&mut self, _keep: &Keep, _stretch: &TimeStep) -> Result<()> {
        Ok(())
    }

    /// Removes the rows of the oldest time step, in the way that the engine's manual recommends.
    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()>;

    /// Describes how rows expire.
    fn expires_by(&self, keep: &Keep) -> String;

    /// Returns the number of checkpoints that the engine has begun, if it counts them.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the number of rows of a table, if the engine can report it quickly.
    fn count(&mut self, table: usize) -> Result<Option<u64>>;

    /// Rebuilds the text of question `i` of a phase, if it depends on how new the rows are. Outside
    /// the clock.
    fn rebuild_question(&mut self, _phase: usize, _i: usize) {}

    /// Returns the engine's plan for the query of a phase. `None` if the engine shows none or the
    /// phase has no query. Outside the clock.
    fn plan(&mut self, _phase: usize) -> Result<Option<String>> {
        Ok(None)
    }

    /// Enters a scope, calls `work` once in it, and ends it.
    fn within(&mut self, phase: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()>;

    /// Waits until everything written can be read. Inside the clock.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits every row of a table in any order, with its values in the order of the columns.
    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()>;

    /// Returns the columns of an index that is missing from the engine's own catalog. `None` if no
    /// index is missing or the engine has no catalog.
    fn lacks_index(&mut self, _table: usize) -> Result<Option<String>> {
        Ok(None)
    }

    /// Closes the database and reopens it. [`ready`](Self::ready) follows.
    fn reopen(&mut self) -> Result<()> {
        self.reopen_after(&mut || Ok(()))
    }

    /// Closes the database and reopens it. `meanwhile` runs in between, while another process can
    /// have exclusive access.
    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()>;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Encodes these operations of these phases, and drops earlier ones. Outside the clock.
pub(super) fn lay_out(
    database: &mut dyn Database,
    arena: &mut Arc<Arena>,
    phases: impl IntoIterator<Item = (usize, Range<usize>)>,
) {
    database.take(Arc::default());
    let mut own = Arc::try_unwrap(std::mem::take(arena)).unwrap_or_default();
    own.clear();
    for (phase, operations) in phases {
        database.lay_out(phase, operations, &mut own);
    }
    *arena = Arc::new(own);
    database.take(Arc::clone(arena));
}

/// A step of time whose rows expire together, in the unit of their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeStep {
    /// Its number, counted from 1970. The next step has the next number.
    pub number: i64,
    /// Its first time.
    pub from: i64,
    /// The first time after it.
    pub to: i64,
}

/// A question in the language of a store, and the names of the columns of its answer. Those of a
/// pipeline are their paths in the result's documents.
#[derive(Debug, PartialEq)]
pub(super) struct Question {
    pub text: String,
    pub columns: Vec<String>,
}

impl Question {
    pub(super) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }
}

/// Work done in a scope.
pub(super) type SessionWork<'a> = dyn FnMut(&mut dyn Session) -> Result<()> + 'a;

/// Receives the rows of a table.
pub(super) type VisitRow<'a> = dyn FnMut(&[Value<'_>]) + 'a;

/// Operations in an open scope.
pub(super) trait Session {
    /// Does operation `i` of a phase and adds what it finds. For an insert, that is the row at this
    /// position. For a question, it is the whole question, and replaces the result of the one
    /// before.
    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()>;

    /// Finds the rows that meet the conditions of a phase, for [`change`](Self::change). Returns
    /// their number. They are kept until the next call.
    fn find_rows(&mut self, phase: usize) -> Result<usize>;

    /// Changes the `n`th row found, and counts it if it exists.
    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()>;

    /// Changes many of the rows found, as [`change`](Self::change) does one. Returns how many were
    /// done.
    fn change_each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        part.each(|n| self.change(phase, n, found))
    }

    /// Does many operations of a phase, as [`perform`](Self::perform) does one. Returns how many
    /// were done.
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        part.each(|i| self.perform(phase, i, found))
    }
}

/// Operations in sequence.
pub(super) trait Steps {
    /// Calls `op` for each of them. Returns how many were done.
    fn each(self, op: impl FnMut(usize) -> Result<()>) -> Result<u64>;
}

/// One client's part of a run's operations: every `clients`-th from `client` on.
pub(super) struct Shared<'a> {
    pub part: Part<'a>,
    pub client: usize,
    pub clients: usize,
}

impl<'a> Shared<'a> {
    /// Creates the part of the only client.
    pub(super) const fn only_client(part: Part<'a>) -> Self {
        Self { part, client: 0, clients: 1 }
    }
}

impl Steps for Shared<'_> {
    #[inline]
    fn each(self, mut op: impl FnMut(usize) -> Result<()>) -> Result<u64> {
        let Self { part, client, clients } = self;
        part.each(|i| op(client + i * clients))
    }
}

/// A single operation.
pub(super) struct One(pub usize);

impl Steps for One {
    #[inline]
    fn each(self, mut op: impl FnMut(usize) -> Result<()>) -> Result<u64> {
        op(self.0).map(|()| 1)
    }
}

/// Results of operations. Each question replaces the result of the one before. Everything else adds
/// up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Rows read.
    pub rows: Checksum,
    /// Rows changed or deleted, if the engine reports it. A missing row does not count.
    pub changed: u64,
    /// Result of a question, row by row.
    pub result: Vec<answer::Value>,
    /// Number of its columns, where only the engine knows it.
    pub columns: usize,
    /// Ends of the results of questions that are asked in sequence.
    pub ends: Vec<usize>,
    /// Whether changes were sent without waiting for the answer to each.
    pub pipelined: bool,
    /// Whether more rows are left to change or delete. The next transaction continues with them.
    pub more: bool,
}

impl Found {
    /// Returns a hash of everything found.
    pub(super) fn digest(&self) -> u64 {
        let mut hash = foldhash::fast::FixedState::default().build_hasher();
        (self.rows.rows, self.rows.sum, self.changed, self.columns, &self.ends).hash(&mut hash);
        for value in &self.result {
            match value {
                answer::Value::Int(value) => (0, value).hash(&mut hash),
                answer::Value::Float(value) => (1, value.to_bits()).hash(&mut hash),
                answer::Value::Text(value) => (2, value).hash(&mut hash),
                answer::Value::Null => 3.hash(&mut hash),
            }
        }
        hash.finish()
    }

    /// Clears what was found, and keeps the memory.
    pub(super) fn empty(&mut self) {
        (self.rows, self.changed) = (Checksum::default(), 0);
        self.result.clear();
        self.ends.clear();
        (self.pipelined, self.more) = (false, false);
    }
}

/// Returns a fingerprint with one more value of a row.
#[inline]
pub(super) fn with(print: Fingerprint, value: Value<'_>) -> Fingerprint {
    match value {
        Value::Null => print.int(i64::MIN + 1),
        Value::Int(value) => print.int(value),
        Value::Float(value) => print.int((value + 0.0).to_bits().cast_signed()),
        Value::Text(text) => print.text(text),
        Value::Bytes(bytes) => print.bytes(bytes),
    }
}

/// Returns the fingerprint of a row's values.
pub(super) fn fingerprint<'a>(values: impl IntoIterator<Item = Value<'a>>) -> Fingerprint {
    values.into_iter().fold(Fingerprint::default(), with)
}
