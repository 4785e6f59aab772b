//! A prepared statement.

use std::ffi::CString;

use super::answer::ServerError;
use super::connection::{Connection, Reading};
use super::row::{View, rows};
use super::value::Values;
use crate::clients::again_if;
use crate::sql::Param;
use crate::{EngineError, Result};

/// Rows that are few enough to be read whole.
const FEW: u64 = 64;

/// How often in a row they must have been few.
const OFTEN: u8 = 8;

/// A serialization that failed, and a deadlock: the manual asks to try again
/// (<https://www.postgresql.org/docs/15/mvcc-serialization-failure-handling.html>).
const CONFLICTS: [&str; 2] = ["40001", "40P01"];

/// A statement that a connection knows by its name.
///
/// Its rows are streamed, so that a result of any size takes little memory. That costs something
/// where there is one row, so a statement that has given few rows eight times in a row is read
/// whole, until it gives many.
pub(super) struct Prepared {
    name: CString,
    pub sql: String,
    values: Values,
    /// How often in a row its rows were few, up to [`OFTEN`].
    few: u8,
}

/// Why a result was not read to its end.
pub(super) enum Stopped {
    /// With whether a row was visited before.
    Server(ServerError, bool),
    Visitor(EngineError),
}

impl Stopped {
    /// Whether the statement can be run again as if nothing had happened.
    fn is_conflict(&self) -> bool {
        let Self::Server(ServerError { state: Some(state), .. }, false) = self else {
            return false;
        };
        CONFLICTS.contains(&&**state)
    }
}

impl Prepared {
    /// Prepares a statement, the `number`th of its connection.
    ///
    /// # Errors
    /// The server's.
    pub fn new(
        connection: &mut Connection,
        number: usize,
        sql: &str,
    ) -> std::result::Result<Self, ServerError> {
        let name = CString::new(format!("s{number}")).unwrap_or_default();
        let types = connection.prepare(&name, sql)?;
        Ok(Self { name, sql: sql.to_owned(), values: Values::new(types), few: 0 })
    }

    /// Runs it, visits its rows, and gives the number the server counted. A conflict with others is
    /// tried again where the statement is a transaction `alone`.
    ///
    /// # Errors
    /// Why it stopped.
    pub fn run(
        &mut self,
        connection: &mut Connection,
        alone: bool,
        params: &[Param<'_>],
        mut visit: impl FnMut(&View<'_>) -> Result<()>,
    ) -> std::result::Result<u64, Stopped> {
        let Self { name, values, few, .. } = self;
        let values = values.encode(params);
        let values = values.map_err(|e| Stopped::Server(ServerError::without_state(e), false))?;
        let reading = if *few == OFTEN { Reading::Whole } else { Reading::Streamed };
        let mut seen = 0;
        let run = || {
            let server = |error, seen| Stopped::Server(error, seen > 0);
            let results = connection.execute(name, values, reading);
            let mut results = results.map_err(|e| server(e, seen))?;
            let mut count = 0;
            while let Some(answer) = results.next() {
                let is_last = answer.is_last().map_err(|e| server(e, seen))?;
                for row in rows(&answer) {
                    seen += 1;
                    visit(&row).map_err(Stopped::Visitor)?;
                }
                if is_last {
                    count = answer.count();
                }
            }
            Ok(count)
        };
        let count = again_if(|stopped: &Stopped| alone && stopped.is_conflict(), run)?;
        *few = if seen <= FEW { OFTEN.min(*few + 1) } else { 0 };
        Ok(count)
    }
}
