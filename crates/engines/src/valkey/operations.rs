//! Operations in a scope.

use smallvec::SmallVec;

use super::NAME;
use super::changes::{self, Changes, Names};
use super::resp::{Answer, Connection};
use super::scan::{self, Keys};
use super::session::failed;
use super::snapshot_check::SnapshotCheck;
use crate::kv::{BlindWrites, Change, Operations, Range, Table, Visit, VisitPut};
use crate::{EngineError, Result};

pub(super) struct Reads<'a> {
    pub connection: &'a mut Connection,
    pub tables: &'a [Names],
    pub keys: &'a mut Keys,
    /// Whether other clients can write meanwhile.
    pub is_shared: bool,
}

impl Reads<'_> {
    /// Returns the value of a key, from one state where that is required.
    #[inline]
    fn get(
        &mut self,
        Table(table): Table,
        key: &[u8],
        mut check: Option<&mut SnapshotCheck>,
    ) -> Answer<Option<&[u8]>> {
        if let Some(check) = &mut check {
            check.request_count(self.connection);
        }
        self.connection.command(2, "GET");
        self.connection.word(&[&self.tables[table].rows, key]);
        self.connection.send()?;
        if let Some(check) = check {
            check.read_answer(self.connection)?;
        }
        self.connection.bulk()
    }

    /// Visits the pairs of a range. Where others can write, all reads of a snapshot, or else of
    /// this scan, must see the same state.
    fn scan(
        &mut self,
        Table(table): Table,
        range: Range<'_>,
        visit: &mut Visit<'_>,
        snapshot: Option<&mut SnapshotCheck>,
    ) -> Result<()> {
        let Self { connection, tables, keys, is_shared } = self;
        let (names, is_alone) = (&tables[table], snapshot.is_none());
        let mut own = SnapshotCheck::default();
        let check = snapshot.unwrap_or(&mut own);
        let scanned = match is_shared {
            true => scan::visit_in_steps(connection, names, &range, keys, visit, check),
            false => scan::visit(connection, names, &range, keys, visit),
        };
        scanned.map_err(failed("scan"))?;
        if is_alone { own.end(connection) } else { Ok(()) }
    }
}

/// Operations that are done one by one, or the reads of a snapshot.
pub(super) struct Single<'a> {
    pub reads: Reads<'a>,
    pub snapshot: Option<SnapshotCheck>,
}

impl Single<'_> {
    /// Runs the transaction of two commands on the row of a key and on the set of keys. Returns the
    /// number in the first answer.
    #[inline]
    fn change(&mut self, Table(table): Table, key: &[u8], value: Option<&[u8]>) -> Result<i64> {
        if self.snapshot.is_some() {
            return Err(EngineError::read_only(NAME));
        }
        let (connection, names) = (&mut *self.reads.connection, &self.reads.tables[table]);
        connection.command(1, "MULTI");
        match value {
            Some(value) => {
                connection.command(3, "SET");
                connection.word(&[&names.rows, key]);
                connection.word(&[value]);
                connection.command(4, "ZADD");
                connection.word(&[&names.keys]);
                connection.word(&[b"0"]);
            }
            None => {
                connection.command(2, "DEL");
                connection.word(&[&names.rows, key]);
                connection.command(3, "ZREM");
                connection.word(&[&names.keys]);
            }
        }
        connection.word(&[key]);
        connection.command(1, "EXEC");
        let done = connection.send().and_then(|()| changes::done(connection, 2));
        done.map_err(failed("change a row"))
    }

    /// Sets the value of an existing key. Where others can write, only if it still has its old
    /// value (<https://valkey.io/commands/set/>, `IFEQ`).
    fn replace(&mut self, Table(table): Table, key: &[u8], old: &[u8], new: &[u8]) -> Answer<bool> {
        let Reads { connection, tables, is_shared, .. } = &mut self.reads;
        connection.command(if *is_shared { 5 } else { 3 }, "SET");
        connection.word(&[&tables[table].rows, key]);
        connection.word(&[new]);
        if *is_shared {
            connection.word(&[b"IFEQ"]);
            connection.word(&[old]);
        }
        connection.send()?;
        connection.was_done()
    }
}

impl Operations for Single<'_> {
    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let check = self.snapshot.as_mut().filter(|_| self.reads.is_shared);
        self.reads.get(table, key, check).map_err(failed("get a value"))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.reads.scan(table, range, visit, self.snapshot.as_mut())
    }

    fn count(&mut self, Table(table): Table) -> Result<Option<u64>> {
        let Self { reads: Reads { connection, tables, is_shared, .. }, snapshot } = self;
        let mut check = snapshot.as_mut().filter(|_| *is_shared);
        if let Some(check) = &mut check {
            check.request_count(connection);
        }
        let count = connection.ask(&[b"ZCARD", &tables[table].keys]).send();
        let count = count.and_then(|()| check.map_or(Ok(()), |m| m.read_answer(connection)));
        let count = count.and_then(|()| connection.integer());
        count.map(|count| u64::try_from(count).ok()).map_err(failed("count the keys"))
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(table, key, Some(value)).map(drop)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        if self.snapshot.is_some() {
            return Err(EngineError::read_only(NAME));
        }
        loop {
            let found = self.reads.get(table, key, None).map_err(failed("get a value"))?;
            let Some(found) = found else { return Ok(false) };
            let old = SmallVec::<[u8; 64]>::from_slice(found);
            let mut new = old.clone();
            change(&mut new);
            // Refused if another client has changed it meanwhile, and that one made progress.
            if self.replace(table, key, &old, &new).map_err(failed("replace a value"))? {
                return Ok(true);
            }
        }
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.change(table, key, None).map(|removed| removed > 0)
    }
}

/// Tables of a batch, whose changes are sent at its end.
pub(super) struct Pending<'a> {
    pub reads: Reads<'a>,
    pub changes: &'a mut Changes,
    /// Key found last, whose value the next change can be of.
    pub found: &'a mut Vec<u8>,
    pub found_in: Option<Table>,
}

impl BlindWrites for Pending<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let found = self.reads.get(table, key, None).map_err(failed("get a value"))?;
        self.found.clear();
        self.found_in = found.map(|_| table);
        if found.is_some() {
            self.found.extend_from_slice(key);
        }
        Ok(found)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.reads.scan(table, range, visit, None)
    }

    fn set(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        // The set of keys has a key that was just found, unless another client removes it.
        let is_known =
            self.found_in.take() == Some(table) && **self.found == *key && !self.reads.is_shared;
        self.changes.add(table.0, key, value, is_known);
        Ok(())
    }

    fn puts(&self, visit: &mut VisitPut<'_>) -> Result<()> {
        self.changes.for_each_put(visit);
        Ok(())
    }
}
