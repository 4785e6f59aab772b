//! Many executions of a prepared statement, sent without waiting for the answer to each
//! (<https://www.postgresql.org/docs/18/libpq-pipeline-mode.html>).

use std::collections::VecDeque;
use std::ffi::CStr;

use super::answer::{Answer, ServerError};
use super::api::{PIPELINE_ABORTED, PIPELINE_SYNC, PipelineApi};
use super::connection::Connection;
use super::value::{Encoded, Values};
use crate::sql::Param;

/// Executions of a group, which ends with a synchronization point.
const GROUP: usize = 256;

/// Groups that are under way: the server works on one while the answers to the other are read.
///
/// The manual warns of a server that waits until its answers are read while the client waits until more statements
/// are read. The answers to two groups, some 30 bytes each, are few enough for the buffers of a socket.
const UNDER_WAY: usize = 2;

/// A connection in pipeline mode, which it leaves when this is dropped. What was not read is read then.
pub(super) struct Pipeline<'a> {
    connection: &'a mut Connection,
    api: &'static PipelineApi,
    /// Executions of the group that was begun.
    begun: usize,
    /// Groups that were ended and not read, with the executions of each.
    ended: VecDeque<usize>,
    /// Executions whose answers were read, and the rows that they changed.
    read: usize,
    changed: u64,
}

/// Why an execution failed, and which one it was, counted from 1; none where it was not one of them.
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
    /// Enters pipeline mode, with nothing under way.
    pub fn enter(connection: &'a mut Connection) -> Result<Self, ServerError> {
        let Some(api) = &connection.library().pipelines else {
            return Err(ServerError::without_state(
                "this libpq has no pipelines; it is older than 14",
            ));
        };
        // SAFETY: the connection is alive, and nothing is under way, since that borrows the connection.
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

    /// Waits for all answers; how many rows were changed.
    pub fn finish(mut self) -> Result<u64, Failed> {
        if self.begun > 0 {
            self.end_group()?;
        }
        while !self.ended.is_empty() {
            self.read_group()?;
        }
        Ok(self.changed)
    }

    /// Ends the group that was begun, and has the server answer.
    fn end_group(&mut self) -> Result<(), ServerError> {
        // SAFETY: the connection is alive and in pipeline mode.
        if unsafe { (self.api.pipelineSync)(self.connection.raw()) } != 1 {
            return Err(self.connection.error());
        }
        self.ended.push_back(std::mem::take(&mut self.begun));
        Ok(())
    }

    /// Reads the answers to the oldest group, whatever they are; its first error.
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

    /// The next answer. After the answer to each execution there is a null, and no second one while more is to come.
    fn next(&mut self) -> Option<Answer> {
        self.connection.result().or_else(|| self.connection.result())
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        if self.begun > 0 && self.end_group().is_err() {
            // A connection that is lost: the next call says so.
            return;
        }
        while !self.ended.is_empty() {
            let _ = self.read_group();
        }
        // SAFETY: the connection is alive, and everything was read.
        unsafe { (self.api.exitPipelineMode)(self.connection.raw()) };
    }
}

/// Whether a server takes a pipeline, into an empty table with a column of integers; nothing is stored.
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
