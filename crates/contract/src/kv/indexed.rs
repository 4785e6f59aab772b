//! Secondary indexes for a store that keeps none. Each index is a further table. A change of the
//! indexed table changes it in the same transaction.

mod load;
mod scope;

use super::mirror::Mirror;
use super::{IndexDef, KvStore, Pairs, Table, TableDef, Work, expire};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Reopener, Result, Scope, Store,
};
use load::{EntryCollector, SortedEntries};
use scope::{Indexing, Inner, Scratch, indexes_of};

/// Name in errors.
const NAME: &str = "an index kept in a table of its own";

/// A store of plain tables with secondary indexes. An index is a table whose keys are the indexed
/// bytes followed by the key that they belong to. Its values are empty. Tables without indexes go
/// to the inner store unchanged.
///
/// A change of an indexed table and of its indexes is one transaction: the current batch, or one of
/// its own. A bulk load is one commit per table.
pub struct Indexed {
    store: Box<dyn KvStore>,
    /// By table number. Tables beyond the end have no indexes.
    indexes: Vec<Vec<Index>>,
    scratch: Scratch,
}

/// Some bytes of every value, and the table that finds them.
#[derive(Clone, Copy)]
struct Index {
    at: usize,
    length: usize,
    table: Table,
}

impl Index {
    fn end(&self) -> usize {
        self.at + self.length
    }

    /// Returns the indexed bytes of a value, or `None` if it is too short.
    #[inline]
    fn bytes_in<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        value.get(self.at..self.end())
    }
}

#[cold]
fn too_short(value: usize, indexes: &[Index]) -> EngineError {
    let least = indexes.iter().map(Index::end).max().unwrap_or_default();
    let why = format!("a value of {value} bytes is too short: the indexes need {least} bytes");
    EngineError::failed(NAME, "index a value", why)
}

impl Indexed {
    /// Adds indexes to a store. Returns the store itself if it keeps them.
    #[expect(clippy::new_ret_no_self, reason = "a store that keeps indexes needs no decorator")]
    pub fn new(store: Box<dyn KvStore>) -> Box<dyn KvStore> {
        if store.keeps_indexes() {
            return store;
        }
        Box::new(Self { store, indexes: Vec::new(), scratch: Scratch::default() })
    }

    /// Makes a reopener that adds indexes to the reopened store.
    pub fn reopener(plain: Reopener) -> Reopener {
        Reopener::new(move |store, meanwhile| match plain.reopen_after(store, meanwhile)? {
            Store::Kv(store) => Ok(Store::Kv(Self::new(store))),
            other => Ok(other),
        })
    }
}

#[deny(clippy::missing_trait_methods, reason = "a default would hide the store's own method")]
impl Lifecycle for Indexed {
    crate::delegate! {
        store:
        fn maintain(&mut self) -> Result<()>;
        fn upkeep(&mut self) -> Result<()>;
        fn limits(&self) -> Limits;
        fn tier_settings(&mut self) -> Result<Vec<(String, String)>>;
        fn reconnect(&mut self) -> Option<Result<()>>;
        fn connects_by_request(&self) -> bool;
        fn join(&self) -> Join;
        fn open_client(&mut self) -> Result<ClientOpener>;
        fn crash_on_close(&mut self) -> Result<()>;
        fn suspend_checkpoints(&mut self, bytes: u64) -> Result<()>;
        fn log_bytes(&mut self) -> Result<u64>;
        fn background(&mut self, into: &mut Vec<Background>) -> Result<()>;
        fn check(&mut self) -> Result<Checked>;
    }

    /// Refuses a program in another language once a table has an index. This store maintains the
    /// indexes, and such a program only has the engine's own operations.
    fn connection(&mut self) -> Result<ConnectionParameters> {
        let connection = self.store.connection()?;
        if self.indexes.iter().all(Vec::is_empty) {
            return Ok(connection);
        }
        let why = "clients in another language do not maintain indexes for an engine that keeps \
                   none itself";
        Err(EngineError::impossible(why))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

#[deny(clippy::missing_trait_methods, reason = "a default would hide the store's own method")]
impl KvStore for Indexed {
    crate::delegate! {
        store:
        fn mirror(&mut self) -> Option<&mut dyn Mirror>;
        fn bulk_sorted(&self) -> bool;
    }

    /// The indexes must be those that the table was created with.
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.store.table(def)?;
        if def.indexes.is_empty() || !indexes_of(&self.indexes, table).is_empty() {
            return Ok(table);
        }
        let mut indexes = Vec::with_capacity(def.indexes.len());
        for &IndexDef { name, at, length } in def.indexes {
            let name = format!("{}by{name}", def.name);
            let key_length = def.key_length.map(|key| key + length);
            let of_index = TableDef { name: &name, key_length, indexes: &[] };
            indexes.push(Index { at, length, table: self.store.table(&of_index)? });
        }
        if self.indexes.len() <= table.0 {
            self.indexes.resize_with(table.0 + 1, Vec::new);
        }
        self.indexes[table.0] = indexes;
        Ok(table)
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.store.clear(table)?;
        let Self { store, indexes, .. } = self;
        let indexes = indexes.get(table.0).into_iter().flatten();
        indexes.map(|index| index.table).try_for_each(|table| store.clear(table))
    }

    /// Loads the table first, then each index in order. The table is empty afterwards if a value is
    /// too short for its indexes or an index cannot be loaded.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if indexes_of(&self.indexes, table).is_empty() {
            return self.store.bulk(table, pairs);
        }
        let Self { store, indexes, .. } = self;
        let indexes = &indexes[table.0];
        let mut collector = EntryCollector::new(pairs, indexes);
        let rows = store.bulk(table, &mut collector)?;
        if let Some(bytes) = collector.too_short {
            store.clear(table)?;
            return Err(too_short(bytes, indexes));
        }
        for (index, entries) in indexes.iter().zip(collector.entries) {
            if let Err(error) = store.bulk(index.table, &mut SortedEntries::new(entries)) {
                self.clear(table)?;
                return Err(error);
            }
        }
        Ok(rows)
    }

    /// Finds the keys of a table with indexes and removes each with its entries, because the
    /// entries follow from the values.
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        if indexes_of(&self.indexes, table).is_empty() {
            return self.store.delete_range(table, from, to);
        }
        expire::in_batches(|scope, work| self.transact(scope, work), table, from, to)
    }

    fn deletes_range(&self, table: Table) -> &'static str {
        if indexes_of(&self.indexes, table).is_empty() {
            return self.store.deletes_range(table);
        }
        "a scan that finds the keys and a delete of each with its index entries, 1,000 a commit"
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { store, indexes, scratch } = self;
        if scope == Scope::PerOperation {
            let inner = Inner::Autocommit(&mut **store);
            return work(&mut Indexing { inner, indexes, scratch });
        }
        store.transact(scope, &mut |inner| {
            let inner = Inner::InScope(inner);
            work(&mut Indexing { inner, indexes, scratch })
        })
    }
}

#[cfg(test)]
mod tests;
