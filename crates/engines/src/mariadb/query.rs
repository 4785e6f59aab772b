//! Statements that are sent once as text, and their results.

use super::api::{Api, Raw};
use super::connection::Connection;
use super::failure::Failure;
use crate::owned;

impl Connection {
    /// Runs statements and drops their results. None is run after one that failed.
    pub fn run(&self, sql: &str) -> Result<(), Failure> {
        self.send(sql)?;
        loop {
            drop(self.answer()?);
            if !self.next()? {
                return Ok(());
            }
        }
    }

    /// Runs one statement without rows. Returns how many it stored.
    pub fn store(&self, sql: &str) -> Result<u64, Failure> {
        self.send(sql)?;
        drop(self.answer()?);
        // SAFETY: the connection is open.
        Ok(unsafe { (self.api().affected_rows)(self.raw()) })
    }

    /// Runs one statement. Returns its rows as texts, with NULL as an empty one.
    pub fn rows<const N: usize>(&self, sql: &str) -> Result<Vec<[String; N]>, Failure> {
        self.send(sql)?;
        let answer = self.answer()?.ok_or_else(|| Failure::own("it returned no rows"))?;
        answer.rows()
    }

    fn send(&self, sql: &str) -> Result<(), Failure> {
        // SAFETY: the connection is open, and the text has the given length.
        let code =
            unsafe { (self.api().real_query)(self.raw(), sql.as_ptr().cast(), sql.len() as _) };
        if code == 0 { Ok(()) } else { Err(self.failure()) }
    }

    /// Reads all rows of a statement, if it returns rows.
    fn answer(&self) -> Result<Option<Answer>, Failure> {
        let api = self.api();
        // SAFETY: a statement has been run, and its result has not been read.
        let (raw, columns) =
            unsafe { ((api.store_result)(self.raw()), (api.field_count)(self.raw())) };
        match (raw.is_null(), columns) {
            (false, _) => Ok(Some(Answer { api, raw })),
            (true, 0) => Ok(None),
            (true, _) => Err(self.failure()),
        }
    }

    /// Moves to the next of the statements that were sent.
    fn next(&self) -> Result<bool, Failure> {
        // SAFETY: the previous result has been read.
        match unsafe { (self.api().next_result)(self.raw()) } {
            0 => Ok(true),
            -1 => Ok(false),
            _ => Err(self.failure()),
        }
    }
}

/// Rows of a result. Freed when dropped.
struct Answer {
    api: &'static Api,
    raw: Raw,
}

impl Answer {
    fn rows<const N: usize>(&self) -> Result<Vec<[String; N]>, Failure> {
        // SAFETY: the result is alive.
        if unsafe { (self.api.num_fields)(self.raw) } as usize != N {
            return Err(Failure::own("its rows have another number of columns"));
        }
        let mut rows = Vec::new();
        loop {
            // SAFETY: a row that is not null has a value for each column, of the given length, or
            // null with the length 0, until the next row is asked for.
            unsafe {
                let row = (self.api.fetch_row)(self.raw);
                if row.is_null() {
                    return Ok(rows);
                }
                let lengths = (self.api.fetch_lengths)(self.raw);
                rows.push(std::array::from_fn(|column| {
                    let (value, length) = (*row.add(column), *lengths.add(column));
                    let value = owned::bytes(value.cast(), length as usize);
                    String::from_utf8_lossy(value).into_owned()
                }));
            }
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { (self.api.free_result)(self.raw) }
    }
}
