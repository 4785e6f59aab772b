//! A client of a library as a key-value store.

use std::cell::Cell;
use std::ops::ControlFlow;

use embermark_abi as abi;

use super::api::KeyValue;
use super::description::EngineDescription;
use super::handle::Handle;
use super::scope::{BlindBatch, PrefixedTables, Puts, Scoped};
use crate::kv::{Change, KvStore, Operations, Overlay, Pairs, Range, Table, TableDef, Visit, Work};
use crate::prefixed::{MAX_TABLES, NAMES, prefixed_key};
use crate::{Checked, ClientOpener, EngineError, Join, Lifecycle, Result, Scope, retry_if};

/// Number of keys deleted per transaction when a table is cleared.
const CLEAR_BATCH: usize = 10_000;

pub(super) struct Client {
    pub handle: Handle<KeyValue>,
    /// Tables by prefix, if the library has no tables.
    prefixed: Option<PrefixedTables>,
    puts: Puts,
    /// The value returned last.
    value: Vec<u8>,
    about: &'static EngineDescription,
}

impl Client {
    pub fn new(mut handle: Handle<KeyValue>, about: &'static EngineDescription) -> Result<Self> {
        let prefixed = match handle.functions.raw.table {
            Some(_) => None,
            None => Some(PrefixedTables::read(&mut handle)?),
        };
        Ok(Self { handle, prefixed, puts: Puts::default(), value: Vec::new(), about })
    }

    fn scoped(&mut self, scope: Scope) -> Scoped<'_> {
        let Self { handle, prefixed, puts, .. } = self;
        Scoped { handle, prefixed: prefixed.as_mut(), puts, scope }
    }

    /// Runs `work` in a snapshot or a batch, then commits. Rolls back after an error.
    fn within<T>(&mut self, scope: Scope, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.handle.begin(match scope {
            Scope::Snapshot => abi::SNAPSHOT,
            Scope::Batch | Scope::PerOperation => abi::BATCH,
        })?;
        match work(self) {
            Ok(done) => self.handle.commit().map(|()| done),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.handle.undo();
                Err(error)
            }
        }
    }

    /// Runs `work` with the operations of a snapshot or a batch.
    fn operate<T>(
        &mut self,
        scope: Scope,
        work: impl FnOnce(&mut Scoped<'_>) -> Result<T>,
    ) -> Result<T> {
        self.within(scope, |client| work(&mut client.scoped(scope)))
    }

    /// Runs an operation in its own transaction. Repeats it if the library refuses it because of
    /// another client.
    fn in_own_transaction<T>(
        &mut self,
        scope: Scope,
        mut operation: impl FnMut(&mut Scoped<'_>) -> Result<T>,
    ) -> Result<T> {
        retry_if(EngineError::is_conflict, || self.operate(scope, &mut operation))
    }
}

impl Lifecycle for Client {
    fn maintain(&mut self) -> Result<()> {
        self.handle.maintain()
    }

    fn join(&self) -> Join {
        Join::Exclusive(self.about.why_exclusive())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (other, about) = (self.handle.open_client()?, self.about);
        Ok(ClientOpener::kv(move || Self::new(other, about)))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        self.handle.crash_on_close()
    }

    fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()> {
        self.handle.suspend_checkpoints(bytes)
    }

    fn log_bytes(&mut self) -> Result<u64> {
        self.handle.log_bytes()
    }

    fn check(&mut self) -> Result<Checked> {
        self.handle.check(self.about.check_name())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.handle.close()
    }
}

impl KvStore for Client {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(number) = self.handle.table(def.name, def.key_length) {
            return number.map(|number| Table(number as usize));
        }
        let (name, id) = (def.name.as_bytes(), self.handle.id);
        let Some(prefixed) = &self.prefixed else { return Ok(NAMES) };
        if let Some(known) = prefixed.names.iter().position(|known| known == name) {
            return Ok(Table(known));
        }
        let table = Table(prefixed.names.len());
        if table.0 > MAX_TABLES {
            return Err(EngineError::unsupported(id, "more than 254 tables, a byte for each"));
        }
        self.in_own_transaction(Scope::Batch, |batch| {
            let key = &mut Vec::new();
            batch.handle.put(false, 0, prefixed_key(key, NAMES, name), &[table.0 as u8])
        })?;
        self.prefixed.iter_mut().for_each(|prefixed| prefixed.names.push(name.to_vec()));
        Ok(table)
    }

    /// Deletes the keys if the library has no function for it. Maintenance frees the space.
    fn clear(&mut self, table: Table) -> Result<()> {
        if self.prefixed.is_none()
            && let Some(done) = self.handle.clear(table.0 as u32)
        {
            return done;
        }
        loop {
            let mut keys: Vec<Vec<u8>> = Vec::new();
            self.operate(Scope::Snapshot, |snapshot| {
                snapshot.scan(table, Range::default(), &mut |key, _| {
                    keys.push(key.to_vec());
                    if keys.len() < CLEAR_BATCH {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                })
            })?;
            if keys.is_empty() {
                return self.handle.maintain();
            }
            self.operate(Scope::Batch, |batch| {
                keys.iter().try_for_each(|key| batch.remove(table, key))
            })?;
        }
    }

    /// Inserts the pairs in one batch if the library has no bulk function.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if self.prefixed.is_none()
            && let Some(done) = self.handle.bulk(table.0 as u32, pairs)
        {
            return done;
        }
        self.operate(Scope::Batch, |batch| {
            let mut rows = 0;
            while let Some((key, value)) = pairs.next() {
                batch.put(table, key, value)?;
                rows += 1;
            }
            Ok(rows)
        })
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        match scope {
            Scope::PerOperation if self.handle.has(abi::AUTOCOMMIT) => {
                work(&mut self.scoped(scope))
            }
            Scope::PerOperation => work(&mut Each(self)),
            Scope::Snapshot => self.operate(scope, |snapshot| work(snapshot)),
            Scope::Batch if self.handle.has(abi::READS_BATCH) => {
                self.operate(scope, |batch| work(batch))
            }
            Scope::Batch => self.within(scope, |client| {
                client.puts.clear();
                let batch = BlindBatch { scoped: client.scoped(scope), taken: Cell::new(false) };
                work(&mut Overlay::new(scope, batch))
            }),
        }
    }
}

/// Each operation in its own scope, for a library without autocommit.
struct Each<'a>(&'a mut Client);

impl Operations for Each<'_> {
    /// Returns a copy, because the snapshot ends before the value is used.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let mut value = std::mem::take(&mut self.0.value);
        let found = self.0.in_own_transaction(Scope::Snapshot, |snapshot| {
            let Some(found) = snapshot.get(table, key)? else { return Ok(false) };
            value.clear();
            value.extend_from_slice(found);
            Ok(true)
        });
        self.0.value = value;
        Ok(found?.then_some(&self.0.value))
    }

    /// Never repeated, because some pairs may have been visited.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.0.operate(Scope::Snapshot, |snapshot| snapshot.scan(table, range, visit))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.0.in_own_transaction(Scope::Snapshot, |snapshot| snapshot.count(table))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.in_own_transaction(Scope::Batch, |batch| batch.put(table, key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.0.in_own_transaction(Scope::Batch, |batch| batch.modify(table, key, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.0.in_own_transaction(Scope::Batch, |batch| batch.delete(table, key))
    }

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.0.in_own_transaction(Scope::Batch, |batch| batch.remove(table, key))
    }
}
