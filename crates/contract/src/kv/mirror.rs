//! A second, columnar copy of a key-value store's tables, for queries in SQL.

use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::{KvStore, Table};
use crate::sql::{Param, SqlStore, TableDef};
use crate::{EngineError, Result};

/// Values of a row, in the order of its table's columns.
pub type Row<'a> = SmallVec<[Param<'a>; 12]>;

/// Decodes the pairs of a table as rows.
pub trait Decode: Send + Sync {
    /// Returns the table of the rows. The columns of its key come first, in the key's order. They
    /// depend only on the bytes of the key, and no two keys have the same values.
    fn rows(&self) -> &TableDef;

    /// Returns a version number that changes with the meaning of the rows. Rows of another version
    /// are rebuilt.
    fn version(&self) -> u32 {
        1
    }

    /// Appends the values of the key's columns. Returns `None` if the bytes are not a key of this
    /// table.
    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()>;

    /// Appends the values of the columns that follow the key. Returns `None` if the bytes are not a
    /// value of this table.
    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()>;
}

/// The copy of the data that answers a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The pairs, read by code that scans them.
    Pairs,
    /// The rows, read by SQL.
    Rows,
}

/// The second copy.
///
/// # Errors
/// Every call fails with the engine's message.
pub trait Mirror {
    /// Makes the rows of a table available to SQL under the name of [`Decode::rows`], for as long
    /// as the database lives. If the table is shown already, `decode` replaces its earlier meaning.
    fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()>;

    /// Brings the rows of every shown table up to the state of the pairs.
    fn refresh(&mut self) -> Result<()>;

    /// Returns a client that reads the rows, [refreshed](Self::refresh): they hold every commit
    /// that was acknowledged before this call. The number changes whenever prepared statements are
    /// forgotten.
    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)>;

    /// Returns the side that is expected to answer a query sooner, by the times measured so far.
    /// `None` until both have been tried.
    fn side(&self, question: &str) -> Option<Side>;

    /// Records how long a side took to answer a query, including the refresh before it.
    fn took(&mut self, question: &str, side: Side, time: Duration);

    /// Handles a failure of the rows. Returns whether they were damaged and are being rebuilt, so
    /// that asking again is worthwhile.
    fn failed(&mut self, error: &EngineError) -> Result<bool>;
}

/// Code that answers a query by a scan of the pairs.
pub type ByPairs<'a, C> = dyn FnMut(&mut dyn KvStore, &mut C) -> Result<()> + 'a;

/// Code that answers a query by SQL, given the result of [`Mirror::sql`].
pub type ByRows<'a, C> = dyn FnMut(&mut dyn SqlStore, u64, &mut C) -> Result<()> + 'a;

impl dyn KvStore + '_ {
    /// Answers a query into `answer` by the side that is expected to be faster, and returns that
    /// side. It is the pairs if there is no [mirror](KvStore::mirror) or its SQL cannot express the
    /// query. `question` names the query. Either side may be called after an earlier call of itself
    /// or the other one, so it starts with an empty answer.
    ///
    /// # Errors
    /// The engine's message, or the error of the side that was asked.
    pub fn ask<C>(
        &mut self,
        question: &str,
        answer: &mut C,
        pairs: &mut ByPairs<'_, C>,
        rows: &mut ByRows<'_, C>,
    ) -> Result<Side> {
        let Some(mirror) = self.mirror() else {
            return pairs(self, answer).map(|()| Side::Pairs);
        };
        let side = mirror.side(question);
        if side != Some(Side::Pairs) {
            let (time, answered) = timed(|| by_rows(mirror, answer, rows));
            // The first time includes opening the mirror and preparing, which later queries do not
            // pay.
            let (time, answered) = match (side, answered) {
                (None, Ok(())) => timed(|| by_rows(mirror, answer, rows)),
                (_, answered) => (time, answered),
            };
            match answered {
                Ok(()) => mirror.took(question, Side::Rows, time),
                Err(error) if error.is_unsupported() => {
                    return pairs(self, answer).map(|()| Side::Pairs);
                }
                Err(error) => return Err(error),
            }
        }
        if side != Some(Side::Rows) {
            let (time, answered) = timed(|| pairs(self, answer));
            answered?;
            if let Some(mirror) = self.mirror() {
                mirror.took(question, Side::Pairs, time);
            }
        }
        Ok(side.unwrap_or(Side::Pairs))
    }

    /// Answers a query by the rows. Retries once if they were damaged, so `rows` starts with an
    /// empty answer.
    ///
    /// # Errors
    /// Unsupported if there is no [mirror](KvStore::mirror). Otherwise the engine's message, or the
    /// error of `rows`.
    pub fn ask_rows<C>(&mut self, answer: &mut C, rows: &mut ByRows<'_, C>) -> Result<()> {
        let mirror = self.mirror();
        let mirror = mirror.ok_or_else(|| EngineError::unsupported("a key-value store", "SQL"))?;
        by_rows(mirror, answer, rows)
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let done = work();
    (began.elapsed(), done)
}

fn by_rows<C>(mirror: &mut dyn Mirror, answer: &mut C, rows: &mut ByRows<'_, C>) -> Result<()> {
    let (sql, number) = mirror.sql()?;
    match rows(sql, number, answer) {
        Err(error) if mirror.failed(&error)? => {
            let (sql, number) = mirror.sql()?;
            rows(sql, number, answer)
        }
        answered => answered,
    }
}
