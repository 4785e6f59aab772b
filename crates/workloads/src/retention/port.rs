//! What the workload needs of a store, in its own words.

use std::ops::Range;

use embermark_contract::{EngineError, Lifecycle, Result};

use super::questions::{Found, Question};
use super::rows::{Row, Rows};

/// How rows are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commit {
    /// Each by itself.
    Each,
    /// So many at once as [`BATCH`] says.
    Batch,
}

/// Rows of a commit; of an hour's last one as many as are left.
pub(super) const BATCH: u64 = 100;

/// Receives rows in any order.
pub(super) type Visit<'a> = dyn FnMut(Row) -> Result<()> + 'a;

/// A store of rows that are found by time and sensor.
pub(super) trait RetentionLog {
    /// Makes it anew and empty, with the place of the first hour, and everything that it takes to work.
    fn create(&mut self) -> Result<()>;

    /// An hour begins: its place is made where a store has places of hours. Not of the first.
    fn begin(&mut self, _hour: u64) -> Result<()> {
        Ok(())
    }

    /// Puts one row in, and commits.
    fn insert(&mut self, row: &Row) -> Result<()>;

    /// Puts rows in by one commit, where the data model has such.
    fn insert_all(&mut self, rows: &Rows, numbers: Range<u64>) -> Result<()>;

    /// An hour goes, the oldest that is there.
    fn expire(&mut self, hour: u64) -> Result<()>;

    /// By which means an hour goes, for a reader.
    fn expiry(&self) -> String;

    /// Makes ready to ask a question that is asked in words: outside of the clock.
    fn word(&mut self, _question: &Question) {}

    /// Asks it.
    fn ask(&mut self, question: &Question, found: &mut Found) -> Result<()>;

    /// How many rows there are, where the store is quick to tell.
    fn count(&mut self) -> Result<Option<u64>>;

    /// Every row.
    fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()>;

    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    fn close(self: Box<Self>) -> Result<()>;
}

/// A row that is none.
pub(super) fn broken(why: &str) -> EngineError {
    EngineError::failed("the store", "give a row back", why)
}
