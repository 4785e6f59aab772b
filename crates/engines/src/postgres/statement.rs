//! A prepared statement.

use std::ffi::CString;

use super::NAME;
use super::answer::ServerError;
use super::connection::Connection;
use super::pipeline::{Failed, Pipeline};
use super::row::rows;
use super::value::Values;
use crate::sql::{Param, Rows, Visit};
use crate::sql_driver::{Stopped, refused};
use crate::{EngineError, Result as EngineResult};

/// Number of rows up to which results are read whole.
const FEW: u64 = 64;

/// Number of such results in a row that are needed for it.
const OFTEN: u8 = 8;

/// A failed serialization and a deadlock: the manual asks to retry
/// (<https://www.postgresql.org/docs/18/mvcc-serialization-failure-handling.html>).
const CONFLICTS: [&str; 2] = ["40001", "40P01"];

/// Classes of SQLSTATEs for what a query of a workload file may not do: unsupported features,
/// changes in a read-only transaction, and missing privileges
/// (<https://www.postgresql.org/docs/18/errcodes-appendix.html>).
const REFUSED: [&str; 3] = ["0A", "25", "42"];

/// A number beyond the range of its type, such as a sum of floats that overflows.
const OUT_OF_RANGE: &str = "22003";

/// A statement that a connection knows by its name.
///
/// Its rows are streamed, so a result of any size takes little memory. That has a cost for single
/// rows, so a statement that has returned few rows eight times in a row is read whole, until it
/// returns many.
pub(super) struct Prepared {
    /// Whether it is a query of a workload file, which the session's other connection runs.
    pub is_untrusted: bool,
    name: CString,
    sql: String,
    values: Values,
    /// How often in a row it returned few rows, up to [`OFTEN`].
    few: u8,
}

impl Prepared {
    /// Prepares a statement, the `number`th of its connection.
    pub fn new(connection: &mut Connection, number: usize, sql: &str) -> Result<Self, ServerError> {
        let name = CString::new(format!("s{number}")).unwrap_or_default();
        let types = connection.prepare(&name, sql)?;
        let (sql, values) = (sql.to_owned(), Values::new(types));
        Ok(Self { is_untrusted: false, name, sql, values, few: 0 })
    }

    /// Runs it and visits its rows. Returns the number that the server counted.
    pub fn run(
        &mut self,
        connection: &mut Connection,
        params: &[Param<'_>],
        mut visit: Option<&mut Visit<'_>>,
    ) -> Result<u64, Stopped> {
        let Self { is_untrusted, name, sql, values, few } = self;
        let (mut seen, asks) = (0, visit.is_some());
        let stopped = |error: ServerError, seen| {
            if *is_untrusted && error.is_of(&REFUSED) {
                return Stopped::Engine(refused(NAME, sql, error.message));
            }
            if asks && error.is_of(&[OUT_OF_RANGE]) {
                let what = format!("answers beyond the range of numbers ({})", error.message);
                return Stopped::Engine(EngineError::unsupported(NAME, what));
            }
            stopped(sql, error, seen > 0)
        };
        let values = values.encode(params);
        let values = values.map_err(|e| stopped(ServerError::without_state(e), seen))?;
        let streamed = *few < OFTEN;
        let results = connection.execute(name, values, streamed);
        let mut results = results.map_err(|e| stopped(e, seen))?;
        let mut count = 0;
        while let Some(answer) = results.next() {
            let is_last = answer.is_last().map_err(|e| stopped(e, seen))?;
            for row in rows(&answer) {
                seen += 1;
                if let Some(visit) = &mut visit {
                    visit(&row).map_err(Stopped::Visitor)?;
                }
            }
            if is_last {
                count = answer.count();
            }
        }
        *few = if seen <= FEW { OFTEN.min(*few + 1) } else { 0 };
        Ok(count)
    }

    /// Runs it once with each of these parameters, without waiting for the answer to each. Returns
    /// how many rows were changed.
    pub fn run_each(
        &mut self,
        connection: &mut Connection,
        params: &mut dyn Rows,
    ) -> EngineResult<u64> {
        let Self { name, sql, values, .. } = self;
        let mut each = || -> Result<u64, Failed> {
            let mut pipeline = Pipeline::enter(connection)?;
            while let Some(params) = params.next() {
                let values = values.encode(params).map_err(ServerError::without_state)?;
                pipeline.execute(name, values)?;
            }
            pipeline.finish()
        };
        each().map_err(|Failed { execution, error }| {
            let number =
                execution.map_or_else(String::new, |n| format!(", number {n} of a pipeline"));
            error.while_doing(format!("run `{sql}`{number}"))
        })
    }
}

#[cold]
fn stopped(sql: &str, error: ServerError, seen: bool) -> Stopped {
    let conflict = !seen && error.is_of(&CONFLICTS);
    let error = error.while_doing(format!("run `{sql}`"));
    if conflict { Stopped::Conflict(error) } else { Stopped::Engine(error) }
}
