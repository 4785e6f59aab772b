//! The tables of a key-value store a second time, in columns, for questions in SQL.

use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::{KvStore, Table};
use crate::sql::{Param, SqlStore, TableDef};
use crate::{EngineError, Result};

/// The values of a row, in the order of its table's columns.
pub type Row<'a> = SmallVec<[Param<'a>; 12]>;

/// What the pairs of a table are as rows.
pub trait Decode: Send + Sync {
    /// The table of the rows. The columns of its key come first, in the key's order, and the bytes of a
    /// key alone say them: no two keys say the same.
    fn rows(&self) -> &TableDef;

    /// Another number for every other meaning: rows that were made by another one are made anew.
    fn version(&self) -> u32 {
        1
    }

    /// Appends the values of the key's columns; `None` where the bytes are no key of this table.
    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()>;

    /// Appends the values of the columns behind those of the key; `None` where the bytes are no value
    /// of this table.
    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()>;
}

/// Which copy of the data answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The pairs, by code that scans them.
    Pairs,
    /// The rows, by SQL.
    Rows,
}

/// The second copy.
///
/// # Errors
/// Of every call the engine's message.
pub trait Mirror {
    /// Has the rows of a table answer SQL under the name of [`Decode::rows`], from now on and for as
    /// long as the database lives. A table that is shown already is shown as `decode` has it.
    fn show(&mut self, table: Table, decode: Arc<dyn Decode>) -> Result<()>;

    /// Brings the rows up to the state of the pairs, for every table that is shown.
    fn refresh(&mut self) -> Result<()>;

    /// A client that reads the rows, [refreshed](Self::refresh): they hold every commit that was
    /// acknowledged before this call. With it a number: statements that were prepared while it was
    /// another one are forgotten.
    fn sql(&mut self) -> Result<(&mut dyn SqlStore, u64)>;

    /// The side that is expected to answer a question sooner, by the times told so far; `None` while
    /// both are to be tried.
    fn side(&self, question: &str) -> Option<Side>;

    /// Tells how long a side took to answer a question, the refresh before it among it.
    fn took(&mut self, question: &str, side: Side, time: Duration);

    /// Told that the rows did not answer: whether they were damaged and are now made anew, so that it is
    /// worth to ask again.
    fn failed(&mut self, error: &EngineError) -> Result<bool>;
}

/// Code that answers by a scan of the pairs.
pub type ByPairs<'a, C> = dyn FnMut(&mut dyn KvStore, &mut C) -> Result<()> + 'a;

/// Code that answers by SQL, given what [`Mirror::sql`] gives.
pub type ByRows<'a, C> = dyn FnMut(&mut dyn SqlStore, u64, &mut C) -> Result<()> + 'a;

impl dyn KvStore + '_ {
    /// Has a question answered into `answer` by the side that is expected to be faster, and says which
    /// one it was: the pairs, where there is no [mirror](KvStore::mirror), or its SQL cannot say it. A
    /// question is known by its name. Each side may be called although the other, or itself, was called
    /// before: it begins with an answer that is empty.
    ///
    /// # Errors
    /// The engine's message, or those of the side that was asked.
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
            // The first time is that of opening the mirror, too, and of preparing: no question's to come.
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

    /// Has the rows answer a question: once more where they were damaged, so that it begins with an
    /// answer that is empty.
    ///
    /// # Errors
    /// Unsupported where there is no [mirror](KvStore::mirror); the engine's message, or that of `rows`.
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
