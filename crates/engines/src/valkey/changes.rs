//! Changes that are made together, and the transactions that make them.

use super::resp::{Answer, Connection, Failure};
use crate::kv::{Table, VisitPut};

/// Changes per command.
const AT_A_TIME: usize = 500;

/// A table in a store without tables: its name, the prefix of its rows' keys, and the set of its
/// keys.
pub(super) struct Names {
    pub name: String,
    pub rows: Vec<u8>,
    pub keys: Vec<u8>,
}

/// Changes in order, in one block of reused memory.
#[derive(Default)]
pub(super) struct Changes {
    bytes: Vec<u8>,
    list: Vec<Change>,
}

/// A change: where its key ends in the bytes, and its value unless it is a removal.
#[derive(Clone, Copy)]
struct Change {
    table: usize,
    from: usize,
    key: usize,
    value: Option<usize>,
    /// Whether the set of keys already has the key.
    is_known: bool,
}

impl Changes {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
        // Frees the memory of a large batch.
        self.bytes.shrink_to(1 << 20);
        self.list.shrink_to(1 << 14);
    }

    pub const fn len(&self) -> usize {
        self.list.len()
    }

    pub const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a change: a key's value, or its removal.
    #[inline]
    pub fn add(&mut self, table: usize, key: &[u8], value: Option<&[u8]>, is_known: bool) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key = self.bytes.len();
        self.bytes.extend_from_slice(value.unwrap_or_default());
        let value = value.map(|_| self.bytes.len());
        self.list.push(Change { table, from, key, value, is_known });
    }

    fn key(&self, change: &Change) -> &[u8] {
        &self.bytes[change.from..change.key]
    }

    fn value(&self, change: &Change) -> &[u8] {
        &self.bytes[change.key..change.value.unwrap_or(change.key)]
    }

    /// Calls `visit` with the values that were set.
    pub fn for_each_put(&self, visit: &mut VisitPut<'_>) {
        for change in self.list.iter().filter(|change| change.value.is_some()) {
            visit(Table(change.table), self.key(change), self.value(change));
        }
    }

    /// Sends the changes as one transaction. Returns the number of its commands.
    pub fn send(&self, connection: &mut Connection, tables: &[Names]) -> Answer<usize> {
        connection.command(1, "MULTI");
        let (mut rest, mut commands) = (&self.list[..], 0);
        while let Some(first) = rest.first() {
            let alike = |other: &&Change| {
                other.table == first.table && other.value.is_some() == first.value.is_some()
            };
            let length = rest.iter().take(AT_A_TIME).take_while(alike).count();
            let (run, others) = rest.split_at(length);
            rest = others;
            let names = &tables[first.table];
            commands += match first.value {
                Some(_) => self.set(run, connection, names),
                None => self.remove(run, connection, names),
            };
            connection.send_many()?;
        }
        connection.command(1, "EXEC");
        connection.send()?;
        Ok(commands)
    }

    /// Keeps the last of several values for a key (<https://valkey.io/commands/mset/>, one command
    /// for all of them).
    fn set(&self, run: &[Change], connection: &mut Connection, names: &Names) -> usize {
        connection.command(1 + 2 * run.len(), "MSET");
        for change in run {
            connection.word(&[&names.rows, self.key(change)]);
            connection.word(&[self.value(change)]);
        }
        let new = run.iter().filter(|change| !change.is_known);
        let count = new.clone().count();
        if count == 0 {
            return 1;
        }
        connection.command(2 + 2 * count, "ZADD");
        connection.word(&[&names.keys]);
        for change in new {
            connection.word(&[b"0"]);
            connection.word(&[self.key(change)]);
        }
        2
    }

    fn remove(&self, run: &[Change], connection: &mut Connection, names: &Names) -> usize {
        connection.command(1 + run.len(), "DEL");
        run.iter().for_each(|change| connection.word(&[&names.rows, self.key(change)]));
        connection.command(2 + run.len(), "ZREM");
        connection.word(&[&names.keys]);
        run.iter().for_each(|change| connection.word(&[self.key(change)]));
        2
    }
}

/// Reads the answers to a transaction of this many commands. Returns the first one's number, if it
/// is one.
///
/// # Errors
/// Returns the first refused command's error. None of the commands was done then.
pub(super) fn done(connection: &mut Connection, commands: usize) -> Answer<i64> {
    let (mut refused, mut number) = (None, 0);
    // Reads every answer, so that the next one belongs to the next command.
    for _ in 0..=commands {
        keep(&mut refused, connection.done())?;
    }
    if let Some(results) = keep(&mut refused, connection.list())? {
        for result in 0..results {
            let found = keep(&mut refused, connection.number_or_none())?.flatten();
            number = if result == 0 { found.unwrap_or(0) } else { number };
        }
    }
    refused.map_or(Ok(number), Err)
}

/// Keeps the first refusal, which does not end the reading.
fn keep<T>(refused: &mut Option<Failure>, answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Err(failure @ Failure::Refused(_)) => {
            refused.get_or_insert(failure);
            Ok(None)
        }
        answer => answer.map(Some),
    }
}
