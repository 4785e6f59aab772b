//! Whether several reads were of one moment.
//!
//! A command sees one moment, and there is nothing by which several do. Where other clients may write
//! meanwhile, the changes that the server has counted are compared, before the first read and after the
//! last.

use super::NAME;
use super::resp::{Answer, Connection};
use super::session::failed;
use super::settings::value;
use crate::{EngineError, Result};

/// What the server counts: changes since it saved its data to a file, and when that was
/// (<https://valkey.io/commands/info/>, persistence).
const COUNTED: [&str; 2] = ["rdb_changes_since_last_save", "rdb_last_save_time"];

/// Reads that have to be of one moment.
#[derive(Default)]
pub(super) struct Moment {
    /// Whether the count before them was asked for, and is not read yet.
    is_asked: bool,
    before: Option<Count>,
    commands: usize,
}

type Count = [Option<String>; COUNTED.len()];

impl Moment {
    /// Before the first read is sent: asks for the count together with it.
    pub fn ask(&mut self, connection: &mut Connection) {
        if self.before.is_none() {
            ask(connection);
            self.is_asked = true;
        }
    }

    /// Before the read's answer, which is of so many commands, or the last of them.
    pub fn read(&mut self, connection: &mut Connection, commands: usize) -> Answer<()> {
        self.commands += commands;
        if std::mem::take(&mut self.is_asked) {
            self.before = Some(count(connection)?);
        }
        Ok(())
    }

    /// After the last read.
    ///
    /// # Errors
    /// Unsupported when something was changed meanwhile.
    pub fn end(self, connection: &mut Connection) -> Result<()> {
        let Some(before) = self.before.filter(|_| self.commands > 1) else { return Ok(()) };
        ask(connection);
        let after = connection.send().and_then(|()| count(connection));
        if after.map_err(failed("count its changes"))? == before {
            return Ok(());
        }
        let what = "a snapshot of several commands while other clients write";
        Err(EngineError::unsupported(NAME, what))
    }
}

fn ask(connection: &mut Connection) {
    connection.command(2, "INFO");
    connection.word(&[b"persistence"]);
}

fn count(connection: &mut Connection) -> Answer<Count> {
    let info = connection.text()?;
    Ok(COUNTED.map(|name| value(&info, name)))
}
