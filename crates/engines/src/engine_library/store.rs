//! A client of a library as a key-value store.

use std::cell::Cell;
use std::ops::ControlFlow;

use embermark_abi as abi;

use super::api::{Api, KeyValue};
use super::description::EngineDescription;
use super::handle::Handle;
use super::scope::{Access, BlindBatch, NAMES, PrefixedTables, Puts, Scoped, prefixed_key};
use crate::clients::retry_if;
use crate::kv::{Change, KvStore, Operations, Overlay, Pairs, Range, Table, TableDef, Visit, Work};
use crate::{Checked, ClientOpener, Join, Lifecycle, OpenOptions, Result, Scope};

/// Number of keys deleted per transaction when a table is cleared.
const CLEAR_BATCH: usize = 10_000;

/// A client.
pub(super) struct Client {
    handle: Handle<KeyValue>,
    /// Tables by prefix, if the library has no tables.
    prefixed: Option<PrefixedTables>,
    puts: Puts,
    /// The value returned last.
    value: Vec<u8>,
    facts: Facts,
}

/// Properties of its engine.
#[derive(Clone, Copy)]
struct Facts {
    autocommit: bool,
    reads_batch: bool,
    blind_delete: bool,
    check: &'static str,
    exclusive: &'static str,
}

impl Client {
    /// Opens the first client of a database.
    pub fn open(
        api: &'static Api,
        functions: &'static KeyValue,
        id: &'static str,
        about: &'static EngineDescription,
        options: &OpenOptions,
    ) -> Result<Self> {
        let facts = Facts {
            autocommit: api.autocommit,
            reads_batch: api.reads_batch,
            blind_delete: api.blind_delete,
            check: about.check_name(),
            exclusive: about.why_exclusive(),
        };
        Self::new(Handle::open(api, functions, id, options)?, facts)
    }

    fn new(mut handle: Handle<KeyValue>, facts: Facts) -> Result<Self> {
        let prefixed =
            (!handle.has_tables()).then(|| PrefixedTables::read(&mut handle)).transpose()?;
        Ok(Self { handle, prefixed, puts: Puts::default(), value: Vec::new(), facts })
    }

    /// Reads the settings back.
    pub fn settings(&mut self) -> Result<Vec<(String, String)>> {
        self.handle.settings()
    }

    fn scoped(&mut self, access: Access) -> Scoped<'_> {
        self.parts(access).0
    }

    /// Returns the operations, the recorded puts, and the buffer of the value returned last.
    fn parts(&mut self, access: Access) -> (Scoped<'_>, &mut Puts, &mut Vec<u8>) {
        let Self { handle, prefixed, puts, value, facts } = self;
        let (prefixed, blind_delete) = (prefixed.as_mut(), facts.blind_delete);
        (Scoped { handle, prefixed, access, blind_delete }, puts, value)
    }

    /// Runs `work` in a scope, then commits. Rolls back after an error.
    fn within<T>(&mut self, scope: u32, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.handle.begin(scope)?;
        match work(self) {
            Ok(done) => self.handle.commit().map(|()| done),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.handle.undo();
                Err(error)
            }
        }
    }

    /// Runs an operation in its own transaction. Repeats it if the library refuses it because of
    /// another client.
    fn in_own_transaction<T>(
        &mut self,
        scope: u32,
        mut operation: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let once = || {
            let done = self.within(scope, &mut operation);
            done.map_err(|error| (self.handle.was_refused(), error))
        };
        retry_if(|(refused, _)| *refused, once).map_err(|(_, error)| error)
    }
}

impl Lifecycle for Client {
    fn maintain(&mut self) -> Result<()> {
        self.handle.maintain()
    }

    fn join(&self) -> Join {
        Join::Exclusive(self.facts.exclusive)
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (other, facts) = (self.handle.open_client()?, self.facts);
        Ok(ClientOpener::kv(move || Self::new(other, facts)))
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
        self.handle.check(self.facts.check)
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
        let (name, id) = (def.name.as_bytes(), self.handle.id());
        let Some(prefixed) = &self.prefixed else { return Ok(NAMES) };
        if let Some(known) = prefixed.names.iter().position(|known| known == name) {
            return Ok(Table(known));
        }
        let table = prefixed.next(id)?;
        self.in_own_transaction(abi::BATCH, |client| {
            client.handle.put(
                false,
                0,
                prefixed_key(&mut Vec::new(), NAMES, name),
                &[table.0 as u8],
            )
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
            self.within(abi::SNAPSHOT, |client| {
                client.scoped(Access::Snapshot).scan(table, Range::default(), &mut |key, _| {
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
            self.within(abi::BATCH, |client| {
                let mut batch = client.scoped(Access::Batch);
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
        self.within(abi::BATCH, |client| {
            let (mut batch, mut rows) = (client.scoped(Access::Batch), 0);
            while let Some((key, value)) = pairs.next() {
                batch.put(table, key, value)?;
                rows += 1;
            }
            Ok(rows)
        })
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        match scope {
            Scope::PerOperation if self.facts.autocommit => {
                work(&mut self.scoped(Access::PerOperation))
            }
            Scope::PerOperation => work(&mut Each(self)),
            Scope::Snapshot => {
                self.within(abi::SNAPSHOT, |client| work(&mut client.scoped(Access::Snapshot)))
            }
            Scope::Batch if self.facts.reads_batch => {
                self.within(abi::BATCH, |client| work(&mut client.scoped(Access::Batch)))
            }
            Scope::Batch => self.within(abi::BATCH, |client| {
                let (scoped, puts, _) = client.parts(Access::Batch);
                puts.clear();
                work(&mut Overlay::new(scope, BlindBatch { scoped, puts, taken: Cell::new(false) }))
            }),
        }
    }
}

/// Each operation in its own scope, for a library without autocommit.
struct Each<'a>(&'a mut Client);

impl Operations for Each<'_> {
    /// Returns a copy, because the snapshot ends before the value is used.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let found = self.0.in_own_transaction(abi::SNAPSHOT, |client| {
            let (mut scoped, _, value) = client.parts(Access::Snapshot);
            let Some(found) = scoped.get(table, key)? else { return Ok(false) };
            value.clear();
            value.extend_from_slice(found);
            Ok(true)
        })?;
        Ok(found.then_some(&self.0.value))
    }

    /// Never repeated, because some pairs may have been visited.
    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.0.within(abi::SNAPSHOT, |client| {
            client.scoped(Access::Snapshot).scan(table, range, visit)
        })
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.0.in_own_transaction(abi::SNAPSHOT, |client| {
            client.scoped(Access::Snapshot).count(table)
        })
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.in_own_transaction(abi::BATCH, |client| {
            client.scoped(Access::Batch).put(table, key, value)
        })
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.0.in_own_transaction(abi::BATCH, |client| {
            client.scoped(Access::Batch).modify(table, key, change)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.0.in_own_transaction(abi::BATCH, |client| {
            client.scoped(Access::Batch).delete(table, key)
        })
    }

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.0.in_own_transaction(abi::BATCH, |client| {
            client.scoped(Access::Batch).remove(table, key)
        })
    }
}
