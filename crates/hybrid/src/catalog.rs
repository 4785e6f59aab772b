//! The hybrid's own tables in the front: the names of the program's tables, the change records, and
//! a stamp that shows whether the stored mirror matches the front's current state.

use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;

use embermark_contract::kv::{KvStore, Operations, Range, Table, TableDef};
use embermark_contract::{EngineError, Result, Scope};

use crate::cold::ColdTables;
use crate::{NAME, change_log};

/// Largest number of tables. Sets of tables are 64-bit masks.
pub(crate) const TABLES: usize = 64;

/// The hybrid's own tables in the front.
#[derive(Clone, Copy)]
pub(crate) struct Catalog {
    /// Table entries by name, and the stamp.
    names: Table,
    /// Change records by number.
    pub records: Table,
    /// Tables of cold chunks.
    pub cold: ColdTables,
}

/// Catalog entry of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Number of the table in the hybrid.
    pub id: u8,
    /// Whether its rows are in the mirror.
    pub mirrored: bool,
}

/// Identifies a mirror that was closed in the front's current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Random number, drawn when the mirror was closed.
    pub random: u64,
    /// Number of the next change record.
    pub next: u64,
}

impl Stamp {
    /// Makes a new stamp.
    pub fn new(next: u64) -> Self {
        Self { random: RandomState::new().hash_one(next), next }
    }
}

const STAMP: &[u8] = b"stamp";

/// Returns the key of a table's name.
fn named(name: &str) -> Vec<u8> {
    [b"table ", name.as_bytes()].concat()
}

impl Catalog {
    /// Opens the hybrid's own tables.
    pub fn open(front: &mut dyn KvStore) -> Result<Self> {
        let names = front.table(&TableDef::named("hybrid"))?;
        let records = TableDef { key_length: Some(8), ..TableDef::named("hybridlog") };
        let records = front.table(&records)?;
        Ok(Self { names, records, cold: ColdTables::open(front)? })
    }

    /// Returns the entry of the table with that name, and adds it if it is new.
    pub fn entry(&self, front: &mut dyn KvStore, name: &str) -> Result<Entry> {
        let key = named(name);
        let known = front.within(Scope::Snapshot, |s| s.get(self.names, &key).map(entry_of))?;
        if let Some(known) = known {
            return Ok(known);
        }
        front.within(Scope::Batch, |batch| {
            let (mut count, from, to) = (0, named(""), b"table!");
            batch.scan(self.names, Range::between(&from, Some(to)), &mut |_, _| {
                count += 1;
                ControlFlow::Continue(())
            })?;
            let id = u8::try_from(count).ok().filter(|id| usize::from(*id) < TABLES);
            let id = id.ok_or_else(|| {
                EngineError::unsupported(NAME, format!("more than {TABLES} tables"))
            })?;
            let entry = Entry { id, mirrored: false };
            self.set_entry(batch, name, entry).map(|()| entry)
        })
    }

    /// Stores the entry of a table.
    pub fn set_entry(&self, batch: &mut dyn Operations, name: &str, entry: Entry) -> Result<()> {
        batch.put(self.names, &named(name), &[entry.id, u8::from(entry.mirrored)])
    }

    /// Returns the stamp, if the mirror was closed properly.
    pub fn stamp(&self, front: &mut dyn KvStore) -> Result<Option<Stamp>> {
        front.within(Scope::Snapshot, |snapshot| {
            let stamp = snapshot.get(self.names, STAMP)?;
            Ok(stamp.and_then(|bytes| {
                let (random, next) = bytes.split_first_chunk::<8>()?;
                let next = u64::from_be_bytes(next.try_into().ok()?);
                Some(Stamp { random: u64::from_be_bytes(*random), next })
            }))
        })
    }

    /// Stores the stamp of a mirror that was closed properly.
    pub fn put_stamp(&self, front: &mut dyn KvStore, stamp: Stamp) -> Result<()> {
        let bytes = [stamp.random.to_be_bytes(), stamp.next.to_be_bytes()].concat();
        front.within(Scope::Batch, |batch| batch.put(self.names, STAMP, &bytes))
    }

    /// Deletes the stamp, because the mirror is open or was discarded.
    pub fn take_stamp(&self, front: &mut dyn KvStore) -> Result<()> {
        front.within(Scope::Batch, |batch| batch.delete(self.names, STAMP)).map(drop)
    }

    /// Returns the numbers of the oldest and the newest change record. `None` if there are none.
    pub fn record_range(&self, front: &mut dyn KvStore) -> Result<Option<(u64, u64)>> {
        front.within(Scope::Snapshot, |snapshot| {
            let oldest = snapshot.first_key(self.records, Range::default())?;
            let newest = snapshot.first_key(self.records, Range::default().backward())?;
            let ends = oldest.zip(newest);
            Ok(ends.map(|ends| (change_log::number(&ends.0), change_log::number(&ends.1))))
        })
    }
}

fn entry_of(bytes: Option<&[u8]>) -> Option<Entry> {
    let [id, mirrored] = *bytes? else { return None };
    Some(Entry { id, mirrored: mirrored == 1 })
}
