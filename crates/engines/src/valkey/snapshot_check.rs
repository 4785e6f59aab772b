//! Checks that several reads saw the same state.
//!
//! One command sees one state, but nothing extends that to several commands. Where other clients
//! can write meanwhile, the server's count of changes is compared before the first read and after
//! the last.

use super::NAME;
use super::resp::{Answer, Connection};
use super::session::failed;
use super::settings::value;
use crate::{EngineError, Result};

/// What the server counts: changes since it saved its data to a file, and the time of that
/// (<https://valkey.io/commands/info/>, persistence).
const COUNTED: [&str; 2] = ["rdb_changes_since_last_save", "rdb_last_save_time"];

/// Reads that must see the same state.
#[derive(Default)]
pub(super) struct SnapshotCheck {
    /// Whether the count before them was requested and is not read yet.
    is_requested: bool,
    before: Option<Count>,
    reads: usize,
}

type Count = [Option<String>; COUNTED.len()];

impl SnapshotCheck {
    /// Requests the count together with the first read.
    pub fn request_count(&mut self, connection: &mut Connection) {
        if self.before.is_none() {
            request_count(connection);
            self.is_requested = true;
        }
    }

    /// Reads the count before the answer to a read, which is one command.
    pub fn read_answer(&mut self, connection: &mut Connection) -> Answer<()> {
        self.reads += 1;
        if std::mem::take(&mut self.is_requested) {
            self.before = Some(read_count(connection)?);
        }
        Ok(())
    }

    /// Compares the count after the last read.
    ///
    /// # Errors
    /// Unsupported when something was changed meanwhile.
    pub fn end(self, connection: &mut Connection) -> Result<()> {
        let Some(before) = self.before.filter(|_| self.reads > 1) else { return Ok(()) };
        request_count(connection);
        let after = connection.send().and_then(|()| read_count(connection));
        if after.map_err(failed("count its changes"))? == before {
            return Ok(());
        }
        let what = "a snapshot of several commands while other clients write";
        Err(EngineError::unsupported(NAME, what))
    }
}

fn request_count(connection: &mut Connection) {
    connection.ask(&[b"INFO", b"persistence"]);
}

fn read_count(connection: &mut Connection) -> Answer<Count> {
    let info = connection.text()?;
    Ok(COUNTED.map(|name| value(&info, name)))
}
