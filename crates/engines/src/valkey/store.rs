//! The tables of a server.

use std::path::PathBuf;

use super::changes::{self, Changes, Names};
use super::operations::{Pending, Reads, Single};
use super::resp::Answer;
use super::scan::Keys;
use super::session::{Session, failed};
use super::snapshot_check::SnapshotCheck;
use crate::kv::{KvStore, Overlay, Pairs, Table, TableDef, Work};
use crate::server::Server;
use crate::{Result, Scope};

/// Most rows of a bulk load's transaction, and their bytes.
const ROWS: usize = 10_000;
const BYTES: usize = 8 << 20;

/// Keys removed at once.
const REMOVED: usize = 1000;

pub(super) struct ValkeyStore {
    pub session: Session,
    pub server: Option<Server>,
    /// Whether other clients can write.
    pub is_shared: bool,
    /// Folder of a private server's files.
    pub data: Option<PathBuf>,
    tables: Vec<Names>,
    changes: Changes,
    keys: Keys,
    found: Vec<u8>,
}

impl ValkeyStore {
    /// Creates the store on a private server with the folder of its files, which ends with it, or
    /// on another one.
    pub fn new(session: Session, server: Option<(Server, PathBuf)>, is_shared: bool) -> Self {
        let (server, data) = server.unzip();
        let (tables, changes, keys, found) = Default::default();
        Self { session, server, is_shared, data, tables, changes, keys, found }
    }

    /// Returns the number of a table with this name, and assigns one if it has none.
    fn number(&mut self, name: &str) -> Answer<String> {
        let tables = format!("{}tables", self.session.prefix);
        let (tables, name) = (tables.as_bytes(), name.as_bytes());
        let connection = &mut self.session.connection;
        loop {
            connection.ask(&[b"HGET", tables, name]);
            connection.ask(&[b"HLEN", tables]).send()?;
            let known = connection.bulk()?;
            let known = known.map(|number| String::from_utf8_lossy(number).into_owned());
            let next = connection.integer()? + 1;
            if let Some(known) = known {
                return Ok(known);
            }
            // Another client can assign one first.
            connection.ask(&[b"HSETNX", tables, name, next.to_string().as_bytes()]).send()?;
            connection.integer()?;
        }
    }

    /// Sends the changes of a batch, and waits for the answer.
    fn commit(&mut self) -> Result<()> {
        let Self { session: Session { connection, .. }, changes, tables, .. } = self;
        let done = changes.send(connection, tables);
        let done = done.and_then(|commands| changes::done(connection, commands));
        done.map(drop).map_err(failed("commit a batch"))
    }

    /// Removes some rows of a table. Returns whether there were any.
    fn remove(&mut self, Table(table): Table) -> Answer<bool> {
        let (connection, names) = (&mut self.session.connection, &self.tables[table]);
        connection
            .ask(&[b"ZRANGE", &names.keys, b"0", (REMOVED - 1).to_string().as_bytes()])
            .send()?;
        self.changes.clear();
        let found = connection.list()?;
        for _ in 0..found {
            self.changes.add(table, connection.bulk()?.unwrap_or_default(), None, true);
        }
        if found > 0 {
            let commands = self.changes.send(connection, &self.tables)?;
            changes::done(connection, commands)?;
        }
        Ok(found > 0)
    }
}

impl KvStore for ValkeyStore {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.tables.iter().position(|table| table.name == def.name) {
            return Ok(Table(known));
        }
        let number = self.number(def.name).map_err(failed("number a table"))?;
        let keys = format!("{}{number}", self.session.prefix);
        let rows = format!("{keys}:").into_bytes();
        self.tables.push(Names { name: def.name.to_owned(), rows, keys: keys.into_bytes() });
        Ok(Table(self.tables.len() - 1))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        while self.remove(table).map_err(failed("clear a table"))? {}
        self.changes.clear();
        Ok(())
    }

    /// Uses transactions of `MSET` and `ZADD` with many rows each, and sends one while the one
    /// before it is executed (<https://valkey.io/topics/pipelining/>). Few rows are one
    /// transaction.
    fn bulk(&mut self, Table(table): Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let Self { session: Session { connection, .. }, changes, tables, .. } = self;
        let (mut rows, mut before, mut failure, mut ended) = (0, None, None, false);
        while !ended {
            changes.clear();
            while changes.len() < ROWS && changes.bytes() < BYTES {
                let Some((key, value)) = pairs.next() else {
                    ended = true;
                    break;
                };
                changes.add(table, key, Some(value), false);
            }
            rows += changes.len() as u64;
            let sent = (changes.len() > 0).then(|| changes.send(connection, tables)).transpose();
            let sent = sent.map_err(failed("load rows"))?;
            if let Some(commands) = std::mem::replace(&mut before, sent) {
                failure = changes::done(connection, commands).err();
            }
            ended |= failure.is_some();
        }
        // The last one's answers are always read, because they do not belong to later commands.
        let last = before.map_or(Ok(0), |commands| changes::done(connection, commands)).err();
        changes.clear();
        failure.or(last).map_or(Ok(rows), |failure| Err(failed("load rows")(failure)))
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { session, tables, keys, changes, found, is_shared, .. } = self;
        let connection = &mut session.connection;
        let reads = Reads { connection, tables, keys, is_shared: *is_shared };
        match scope {
            Scope::PerOperation => work(&mut Single { reads, snapshot: None }),
            Scope::Snapshot => {
                let mut single = Single { reads, snapshot: Some(SnapshotCheck::default()) };
                work(&mut single)?;
                let Single { reads, snapshot } = single;
                snapshot.map_or(Ok(()), |check| check.end(reads.connection))
            }
            Scope::Batch => {
                changes.clear();
                let pending = Pending { reads, changes, found, found_in: None };
                work(&mut Overlay::new(scope, pending))?;
                if self.changes.len() == 0 { Ok(()) } else { self.commit() }
            }
        }
    }
}
