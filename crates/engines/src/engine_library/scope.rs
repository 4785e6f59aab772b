//! Operations in a scope.

use std::cell::Cell;
use std::ops::ControlFlow;

use embermark_abi as abi;
use smallvec::SmallVec;

use super::api::KeyValue;
use super::handle::Handle;
use crate::kv::{BlindWrites, Change, Operations, Range, Table, Visit, VisitPut};
use crate::prefixed::{NAMES, prefixed_key, prefixed_range};
use crate::{EngineError, Result, Scope};

/// Tables for a library without tables. Each table has a prefix byte of the keys. Their names are
/// in the table [`NAMES`].
pub(super) struct PrefixedTables {
    /// Names by table number. The entry of [`NAMES`] is unused.
    pub names: Vec<Vec<u8>>,
    /// Memory for a key, or for the ends of a scan.
    keys: [Vec<u8>; 2],
}

impl PrefixedTables {
    pub fn read(handle: &mut Handle<KeyValue>) -> Result<Self> {
        let (mut names, mut keys) = (vec![(0, Vec::new())], Default::default());
        let range = prefixed_range(&mut keys, NAMES, Range::default());
        handle.scan::<1>(0, range, &mut |name, number| {
            names.push((number.first().copied().unwrap_or_default(), name.to_vec()));
            ControlFlow::Continue(())
        })?;
        names.sort_unstable();
        Ok(Self { names: names.into_iter().map(|(_, name)| name).collect(), keys })
    }
}

pub(super) struct Scoped<'a> {
    pub handle: &'a mut Handle<KeyValue>,
    pub prefixed: Option<&'a mut PrefixedTables>,
    /// What a [`BlindBatch`] records.
    pub puts: &'a mut Puts,
    pub scope: Scope,
}

/// Returns the library's table, and a key in it.
macro_rules! table_and_key {
    ($prefixed:expr, $table:ident, $key:ident) => {
        match &mut $prefixed {
            None => ($table.0 as u32, $key),
            Some(prefixed) => (0, prefixed_key(&mut prefixed.keys[0], $table, $key)),
        }
    };
}

impl Scoped<'_> {
    /// Returns whether an operation that is refused is repeated, as its own transaction.
    const fn retries(&self) -> bool {
        matches!(self.scope, Scope::PerOperation)
    }

    fn require_writable(&self) -> Result<()> {
        match self.scope {
            Scope::Snapshot => Err(EngineError::read_only(self.handle.id)),
            Scope::Batch | Scope::PerOperation => Ok(()),
        }
    }

    /// Deletes a key. Returns whether it existed, if the library reports it.
    fn delete_key(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let retries = self.retries();
        let (table, key) = table_and_key!(self.prefixed, table, key);
        self.handle.delete(retries, table, key)
    }
}

impl Operations for Scoped<'_> {
    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let retries = self.retries();
        let (table, key) = table_and_key!(self.prefixed, table, key);
        self.handle.get(retries, table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        match &mut self.prefixed {
            None => self.handle.scan::<0>(table.0 as u32, range, visit),
            Some(prefixed) => {
                self.handle.scan::<1>(0, prefixed_range(&mut prefixed.keys, table, range), visit)
            }
        }
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        match self.prefixed {
            None => self.handle.count(table.0 as u32),
            // It counts the keys of all tables.
            Some(_) => Ok(None),
        }
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.require_writable()?;
        let retries = self.retries();
        let (table, key) = table_and_key!(self.prefixed, table, key);
        self.handle.put(retries, table, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.require_writable()?;
        let retries = self.retries();
        let (number, key) = table_and_key!(self.prefixed, table, key);
        if let Some(done) = self.handle.modify(retries, number, key, change) {
            return done;
        }
        let Some(found) = self.handle.get(retries, number, key)? else { return Ok(false) };
        let mut value = SmallVec::<[u8; 64]>::from_slice(found);
        change(&mut value);
        self.handle.put(retries, number, key, &value).map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.require_writable()?;
        if self.handle.has(abi::BLIND_DELETE) && self.get(table, key)?.is_none() {
            return Ok(false);
        }
        self.delete_key(table, key)
    }

    fn remove(&mut self, table: Table, key: &[u8]) -> Result<()> {
        self.require_writable()?;
        self.delete_key(table, key).map(drop)
    }
}

/// A batch whose reads do not see its changes. It records its puts until an overlay takes them.
pub(super) struct BlindBatch<'a> {
    pub scoped: Scoped<'a>,
    /// Whether an overlay has taken the puts.
    pub taken: Cell<bool>,
}

/// Puts in order: the bytes of all keys and values, and for each put its table and where its key
/// and its value end.
#[derive(Default)]
pub(super) struct Puts {
    bytes: Vec<u8>,
    ends: Vec<(Table, usize, usize)>,
}

impl Puts {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn add(&mut self, table: Table, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((table, key, self.bytes.len()));
    }

    fn for_each(&self, see: &mut VisitPut<'_>) {
        let mut from = 0;
        for &(table, key, value) in &self.ends {
            see(table, &self.bytes[from..key], &self.bytes[key..value]);
            from = value;
        }
    }
}

impl BlindWrites for BlindBatch<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.scoped.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.scoped.scan(table, range, visit)
    }

    fn set(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let Some(value) = value else { return self.scoped.remove(table, key) };
        self.scoped.put(table, key, value)?;
        if !self.taken.get() {
            self.scoped.puts.add(table, key, value);
        }
        Ok(())
    }

    fn puts(&self, see: &mut VisitPut<'_>) -> Result<()> {
        self.scoped.puts.for_each(see);
        self.taken.set(true);
        Ok(())
    }
}
