//! Secondary indexes for a store that keeps none: one more table for each, which every change of
//! the indexed table changes in the same transaction.

mod load;

use std::ops::ControlFlow;

use super::{Direction, IndexDef, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{Access, EngineError, Join, Lifecycle, Result, ShutdownKind};
use load::{Gather, Sorted};

/// Its name in errors.
const NAME: &str = "an index kept in a table of its own";

/// Entries of an index that are read before the values they lead to: of the first batch, and of
/// the largest; each is four times the one before.
const BATCH: (usize, usize) = (16, 1024);

/// A store of plain tables with secondary indexes. An index is a table whose keys are the bytes
/// indexed followed by the key they belong to, its values empty. Tables without indexes are the
/// inner store's own.
///
/// A change of an indexed table is one transaction together with its indexes, the caller's or one
/// of its own. A bulk load is one commit for each table. When a change fails halfway nothing of
/// its transaction is ever committed, and the store refuses all further work.
pub struct Indexed {
    store: Box<dyn KvStore>,
    /// By the number of the table; what is beyond has none.
    indexes: Vec<Vec<Index>>,
    access: Option<Access>,
    /// Whether a change failed halfway.
    broken: bool,
    /// The indexed bytes before and after a change, one index after the other.
    old: Vec<u8>,
    new: Vec<u8>,
    /// A key of an index.
    entry: Vec<u8>,
    /// Keys that an index led to, and where each of them ends.
    found: Vec<u8>,
    ends: Vec<usize>,
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

    /// The bytes of a value; none where it is too short.
    #[inline]
    fn of<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        value.get(self.at..self.end())
    }
}

/// Puts the bytes of every index together; whether the value is long enough for that.
#[inline]
fn gather(indexes: &[Index], value: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    indexes.iter().all(|index| index.of(value).map(|bytes| into.extend_from_slice(bytes)).is_some())
}

fn least(indexes: &[Index]) -> usize {
    indexes.iter().map(Index::end).max().unwrap_or_default()
}

#[cold]
fn too_short(value: usize, indexes: &[Index]) -> EngineError {
    let least = least(indexes);
    let why = format!("a value of {value} bytes has no place for it: {least} are the least");
    EngineError::failed(NAME, "index a value", why)
}

impl Indexed {
    /// The store with indexes: itself, if it keeps them.
    #[expect(clippy::new_ret_no_self, reason = "a store that keeps indexes needs no decorator")]
    pub fn new(store: Box<dyn KvStore>) -> Box<dyn KvStore> {
        if store.keeps_indexes() {
            return store;
        }
        Box::new(Self {
            store,
            indexes: Vec::new(),
            access: None,
            broken: false,
            old: Vec::new(),
            new: Vec::new(),
            entry: Vec::new(),
            found: Vec::new(),
            ends: Vec::new(),
        })
    }

    fn is_plain(&self, table: Table) -> bool {
        self.indexes.get(table.0).is_none_or(Vec::is_empty)
    }

    fn check_whole(&self) -> Result<()> {
        if self.broken { Err(halved()) } else { Ok(()) }
    }

    /// Runs a change of several tables in the transaction under way or else in one of its own.
    fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_whole()?;
        match self.access {
            Some(Access::Write) => {}
            Some(Access::Read) => return Err(read_only()),
            None => self.store.begin(Access::Write)?,
        }
        let worked = work(self).inspect_err(|_| self.broken = true)?;
        if self.access.is_none() {
            self.store.commit().inspect_err(|_| self.broken = true)?;
        }
        Ok(worked)
    }

    /// Reads the indexed bytes of a key's value into `self.old`; whether it is there.
    fn fetch(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.check_whole()?;
        let indexes = &self.indexes[table.0];
        let Some(value) = self.store.get(table, key)? else { return Ok(false) };
        if gather(indexes, value, &mut self.old) {
            return Ok(true);
        }
        let length = value.len();
        Err(too_short(length, indexes))
    }

    /// Brings the indexes of a key from the bytes in `self.old`, if there were any, to those in
    /// `self.new`, if there are any.
    fn follow(&mut self, table: Table, key: &[u8], was: bool, is: bool) -> Result<()> {
        let Self { store, indexes, old, new, entry, .. } = self;
        let mut at = 0;
        for index in &indexes[table.0] {
            let place = at..at + index.length;
            at = place.end;
            if was && is && old[place.clone()] == new[place.clone()] {
                continue;
            }
            if was {
                entry.clear();
                entry.extend_from_slice(&old[place.clone()]);
                entry.extend_from_slice(key);
                store.delete(index.table, entry)?;
            }
            if is {
                entry.clear();
                entry.extend_from_slice(&new[place]);
                entry.extend_from_slice(key);
                store.put(index.table, entry, &[])?;
            }
        }
        Ok(())
    }

    /// Reads the next keys of an index; whether there may be more, from `self.entry` on.
    fn read_entries(&mut self, index: Index, range: Range<'_>, most: usize) -> Result<bool> {
        let Self { store, entry, found, ends, .. } = self;
        found.clear();
        ends.clear();
        let from = std::mem::take(entry);
        let range = Range { from: Some(&from), to: range.to };
        let scanned = store.scan(index.table, range, Direction::Forward, &mut |key, _| {
            found.extend_from_slice(&key[index.length..]);
            ends.push(found.len());
            if ends.len() < most {
                return ControlFlow::Continue(());
            }
            // The lowest key above this one.
            entry.extend_from_slice(key);
            entry.push(0);
            ControlFlow::Break(())
        });
        scanned.map(|()| ends.len() == most)
    }

    /// Visits the pairs of the keys read; whether the visitor wants more.
    fn visit_found(&mut self, table: Table, visit: &mut Visit<'_>) -> Result<ControlFlow<()>> {
        let mut from = 0;
        for end in &self.ends {
            let key = &self.found[from..*end];
            from = *end;
            let Some(value) = self.store.get(table, key)? else { return Err(stray()) };
            if visit(key, value).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn visit_range(
        &mut self,
        table: Table,
        index: Index,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.entry.clear();
        self.entry.extend_from_slice(range.from.unwrap_or_default());
        let mut most = BATCH.0;
        loop {
            let more = self.read_entries(index, range, most)?;
            if self.visit_found(table, visit)?.is_break() || !more {
                return Ok(());
            }
            most = BATCH.1.min(most * 4);
        }
    }
}

#[cold]
fn halved() -> EngineError {
    let why = "a change of a table and its indexes failed halfway; nothing of its transaction was \
               committed: close the database and open it again";
    EngineError::failed(NAME, "go on", why)
}

#[cold]
fn read_only() -> EngineError {
    EngineError::failed(NAME, "change a table", "the transaction was begun to read")
}

#[cold]
fn stray() -> EngineError {
    EngineError::failed(NAME, "find a pair", "the index leads to a key that is not there")
}

impl Lifecycle for Indexed {
    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.check_whole()?;
        self.store.reopen(after)
    }

    fn join(&self) -> Join {
        self.store.join()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

impl KvStore for Indexed {
    /// The indexes have to be those that the table was made with.
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.store.table(def)?;
        if def.indexes.is_empty() || !self.is_plain(table) {
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

    /// In batches: entries of the index first, then the values that they lead to.
    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.check_whole()?;
        let known = self.indexes.get(table.0).and_then(|indexes| indexes.get(index)).copied();
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let known = known.filter(|known| longest.is_none_or(|bytes| bytes <= known.length));
        let Some(known) = known else {
            let what = format!("index {index}, which {table:?} has not, or not of that length");
            return Err(EngineError::unsupported(NAME, what));
        };
        if self.access.is_some() {
            return self.visit_range(table, known, range, visit);
        }
        // One snapshot for all of it.
        self.store.begin(Access::Read)?;
        let visited = self.visit_range(table, known, range, visit);
        visited.and(self.store.commit())
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.check_whole()?;
        self.store.clear(table)?;
        let Self { store, indexes, .. } = self;
        let indexes = indexes.get(table.0).into_iter().flatten();
        indexes.map(|index| index.table).try_for_each(|table| store.clear(table))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.check_whole()?;
        self.store.begin(access)?;
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.check_whole()?;
        self.access = None;
        self.store.commit()
    }

    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.store.get(table, key)
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.store.count(table)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        if self.is_plain(table) {
            return self.store.put(table, key, value);
        }
        // Before the transaction: nobody else changes it, and some engines then write cheaper.
        let was = self.fetch(table, key)?;
        if !gather(&self.indexes[table.0], value, &mut self.new) {
            return Err(too_short(value.len(), &self.indexes[table.0]));
        }
        if was && self.old == self.new && self.access != Some(Access::Read) {
            self.check_whole()?;
            return self.store.put(table, key, value);
        }
        self.within(|indexed| {
            indexed.store.put(table, key, value)?;
            indexed.follow(table, key, was, true)
        })
    }

    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        if self.is_plain(table) {
            return self.store.modify(table, key, change);
        }
        self.within(|indexed| {
            let Self { store, indexes, old, new, .. } = indexed;
            let (indexes, mut short) = (&indexes[table.0], None);
            let there = store.modify(table, key, &mut |value| {
                let before = gather(indexes, value, old);
                change(value);
                if !(before && gather(indexes, value, new)) {
                    short = Some(value.len());
                }
            })?;
            if let Some(bytes) = short {
                return Err(too_short(bytes, indexes));
            }
            if there && old != new {
                indexed.follow(table, key, true, true)?;
            }
            Ok(there)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        if self.is_plain(table) {
            return self.store.delete(table, key);
        }
        if !self.fetch(table, key)? {
            return Ok(false);
        }
        self.within(|indexed| {
            indexed.store.delete(table, key)?;
            indexed.follow(table, key, true, false)?;
            Ok(true)
        })
    }

    /// The table first, then each index in its order. When a value is too short for its indexes the
    /// table is empty afterwards.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if self.is_plain(table) {
            return self.store.bulk(table, pairs);
        }
        self.check_whole()?;
        let Self { store, indexes, .. } = self;
        let indexes = &indexes[table.0];
        let mut gathered = Gather::new(pairs, indexes);
        let rows = store.bulk(table, &mut gathered)?;
        if let Some(bytes) = gathered.short() {
            store.clear(table)?;
            return Err(too_short(bytes, indexes));
        }
        for (index, entries) in indexes.iter().zip(gathered.entries()) {
            let loaded = store.bulk(index.table, &mut Sorted::new(entries));
            loaded.inspect_err(|_| self.broken = true)?;
        }
        Ok(rows)
    }

    fn bulk_sorted(&self) -> bool {
        self.store.bulk_sorted()
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.store.scan(table, range, direction, visit)
    }
}
