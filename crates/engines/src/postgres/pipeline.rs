//! Executes a prepared statement many times without waiting for the answer to each
//! (<https://www.postgresql.org/docs/18/libpq-pipeline-mode.html>).

use std::collections::VecDeque;
use std::ffi::CStr;

use super::answer::{Answer, ServerError};
use super::api::{PIPELINE_ABORTED, PIPELINE_SYNC, PipelineApi};
use super::connection::Connection;
use super::value::{Encoded, Values};
use crate::sql::Param;

/// Executions per group, which ends with a synchronization point.
const GROUP: usize = 256;

/// Groups under way: the server works on one while the answers to the other are read.
///
/// The manual warns of a deadlock: the server waits until its answers are read, and the client
/// waits until more statements are read. The answers to two groups, some 30 bytes each, fit into
/// the buffers of a socket.
const UNDER_WAY: usize = 2;

/// A connection in pipeline mode. Dropping it reads what is left and leaves the mode.
pub(super) struct Pipeline<'a> {
    connection: &'a mut Connection,
    api: &'static PipelineApi,
    /// Executions in the current group.
    begun: usize,
    /// Executions of each group that has ended and was not read.
    ended: VecDeque<usize>,
    /// Executions whose answers were read, and the rows that they changed.
    read: usize,
    changed: u64,
}

/// Why an execution failed, and its number, counted from 1. `None` if no execution failed but
/// something else.
pub(super) struct Failed {
    pub execution: Option<usize>,
    pub error: ServerError,
}

impl From<ServerError> for Failed {
    fn from(error: ServerError) -> Self {
        Self { execution: None, error }
    }
}

impl<'a> Pipeline<'a> {
    /// Enters pipeline mode. Nothing else may be under way.
    pub fn enter(connection: &'a mut Connection) -> Result<Self, ServerError> {
        let Some(api) = &connection.library.pipelines else {
            return Err(ServerError::without_state(
                "this libpq has no pipelines; it is older than 14",
            ));
        };
        // SAFETY: the connection is alive, and nothing else is running, since that would borrow the
        // connection.
        if unsafe { (api.enterPipelineMode)(connection.raw()) } != 1 {
            return Err(connection.error());
        }
        Ok(Self { connection, api, begun: 0, ended: VecDeque::new(), read: 0, changed: 0 })
    }

    /// Sends an execution, and reads answers once enough are under way.
    pub fn execute(&mut self, name: &CStr, values: Encoded<'_>) -> Result<(), Failed> {
        if self.connection.send_prepared(name, values) == 0 {
            return Err(self.connection.error().into());
        }
        self.begun += 1;
        if self.begun < GROUP {
            return Ok(());
        }
        self.end_group()?;
        if self.ended.len() < UNDER_WAY { Ok(()) } else { self.read_group() }
    }

    /// Waits for all answers. Returns how many rows were changed.
    pub fn finish(mut self) -> Result<u64, Failed> {
        if self.begun > 0 {
            self.end_group()?;
        }
        while !self.ended.is_empty() {
            self.read_group()?;
        }
        Ok(self.changed)
    }

    /// Ends the current group, and asks the server to answer.
    fn end_group(&mut self) -> Result<(), ServerError> {
        // SAFETY: the connection is alive and in pipeline mode.
        if unsafe { (self.api.pipelineSync)(self.connection.raw()) } != 1 {
            return Err(self.connection.error());
        }
        self.ended.push_back(std::mem::take(&mut self.begun));
        Ok(())
    }

    /// Reads the answers to the oldest group to the end. Returns its first error.
    fn read_group(&mut self) -> Result<(), Failed> {
        let (before, mut failed) = (self.read, None);
        self.read += self.ended.pop_front().unwrap_or_default();
        let mut answered = before;
        loop {
            let Some(answer) = self.next() else {
                self.ended.clear();
                let lost = || ServerError::without_state("the server gave no answer");
                return Err(failed.unwrap_or_else(|| lost().into()));
            };
            match answer.status() {
                PIPELINE_SYNC => return failed.map_or(Ok(()), Err),
                PIPELINE_ABORTED => {}
                _ => match answer.is_last() {
                    Ok(_) => {
                        self.changed += answer.count();
                        answered += 1;
                    }
                    Err(error) if failed.is_none() => {
                        failed = Some(Failed { execution: Some(answered + 1), error });
                    }
                    Err(_) => {}
                },
            }
        }
    }

    /// Returns the next answer. A null follows the answer to each execution, and no second one
    /// while more answers are to come.
    fn next(&mut self) -> Option<Answer> {
        self.connection.result().or_else(|| self.connection.result())
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        if self.begun > 0 && self.end_group().is_err() {
            // The connection is lost. The next call reports it.
            return;
        }
        while !self.ended.is_empty() {
            let _ = self.read_group();
        }
        // SAFETY: the connection is alive, and everything was read.
        unsafe { (self.api.exitPipelineMode)(self.connection.raw()) };
    }
}

/// Returns whether a server accepts a pipeline, into an empty table with a column of integers.
/// Nothing is stored.
pub(super) fn is_taken(connection: &mut Connection, table: &str) -> bool {
    const NAME: &CStr = c"embermark_trial_pipeline";
    let Ok(types) = connection.prepare(NAME, &format!("INSERT INTO {table} VALUES ($1)")) else {
        return false;
    };
    let mut values = Values::new(types);
    let mut insert = |connection: &mut Connection| {
        let mut pipeline = Pipeline::enter(connection).ok()?;
        for id in 1..=2 {
            pipeline.execute(NAME, values.encode(&[Param::Int(id)]).ok()?).ok()?;
        }
        pipeline.finish().ok()
    };
    let stored = if connection.exec(c"BEGIN").is_ok() { insert(connection) } else { None };
    let _ = connection.exec(c"ROLLBACK");
    let _ = connection.run(&format!("DEALLOCATE {}", NAME.to_string_lossy()));
    stored == Some(2)
}
