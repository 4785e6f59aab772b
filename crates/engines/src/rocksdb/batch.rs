//! What a batch has changed.
//!
//! The library has two kinds of batches: a plain one, which cannot be read, and one with an index,
//! which costs several times as much to fill. So a batch begins as the plain one, and goes over to
//! the other when it is first read.

use std::sync::{Arc, PoisonError};

use super::ID;
use super::api::{Api, Handle};
use super::binding::{Db, Families, Family, Owned, call};
use super::view::{Pairs, Reads, Value, View, bytes};
use crate::{EngineError, Result};

/// Bytes of a plain batch before its first record, and the tag of a record that puts a pair:
/// <https://github.com/facebook/rocksdb/blob/main/db/write_batch.cc>.
const HEADER: usize = 12;
const PUT: u8 = 5;

/// The changes of a batch; none outside of one.
pub(super) struct Batch {
    api: &'static Api,
    reads: Reads,
    families: Families,
    /// Holds the changes until `is_indexed`: nothing but pairs that were put.
    plain: Owned,
    /// Holds them from then on.
    indexed: Owned,
    is_indexed: bool,
}

impl Batch {
    /// Of a database that has these column families.
    pub(super) fn new(db: &Arc<Db>, families: Families) -> Self {
        let api = db.api;
        // SAFETY: ours.
        let plain = unsafe { Owned::new((api.writebatch_create)(), api.writebatch_destroy) };
        // SAFETY: as above. A key stands in the index once, as a way through batch and tables asks.
        let indexed =
            unsafe { Owned::new((api.writebatch_wi_create)(0, 1), api.writebatch_wi_destroy) };
        Self { api, reads: Reads::new(db), families, plain, indexed, is_indexed: false }
    }

    /// Writes the changes, after which there are none.
    pub(super) fn commit(&mut self, db: &Db, writes: &Owned) -> Result<()> {
        let (write, batch) = match self.is_indexed {
            true => (self.api.write_writebatch_wi, self.indexed.raw),
            false => (self.api.write, self.plain.raw),
        };
        // SAFETY: all are open.
        let written = call(self.api, "commit", |error| unsafe {
            write(db.raw.raw, writes.raw, batch, error);
        });
        self.clear();
        written
    }

    /// Forgets the changes.
    pub(super) fn clear(&mut self) {
        // SAFETY: both are open.
        unsafe {
            (self.api.writebatch_clear)(self.plain.raw);
            if std::mem::take(&mut self.is_indexed) {
                (self.api.writebatch_wi_clear)(self.indexed.raw);
            }
        }
    }

    #[inline]
    fn indexed(&mut self) -> Result<Handle> {
        if !self.is_indexed {
            self.go_over()?;
        }
        Ok(self.indexed.raw)
    }

    #[cold]
    fn go_over(&mut self) -> Result<()> {
        self.is_indexed = true;
        let families = Arc::clone(&self.families);
        let families = families.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: open.
        let id = |raw| unsafe { (self.api.column_family_handle_get_id)(raw) };
        let families: Vec<_> = families.iter().map(|family| (id(family.raw.raw), family)).collect();
        let mut size = 0;
        // SAFETY: open; nothing changes it while the bytes are used.
        let mut rest =
            unsafe { bytes((self.api.writebatch_data)(self.plain.raw, &mut size), size) };
        rest = rest.get(HEADER..).unwrap_or_default();
        while !rest.is_empty() {
            let (id, key, value) = record(&mut rest).ok_or_else(unknown_record)?;
            let family = families.iter().find(|(known, _)| *known == id);
            self.put(family.ok_or_else(unknown_record)?.1, key, value)?;
        }
        Ok(())
    }
}

impl View for Batch {
    fn reads(&self) -> &Reads {
        &self.reads
    }

    /// From the batch or else from the tables, copied.
    #[inline]
    fn get<'a>(&mut self, family: &'a Family, key: &[u8]) -> Result<Option<Value<'a>>> {
        let (api, batch, mut size) = (self.api, self.indexed()?, 0);
        // SAFETY: all are open; the key lives through the call.
        let at = call(api, "get a value", |error| unsafe {
            let (db, family) = (family.db.raw.raw, family.raw.raw);
            let (reads, at, size_of) = (self.reads.raw.raw, key.as_ptr(), key.len());
            let get = api.writebatch_wi_get_from_batch_and_db_cf;
            get(batch, db, reads, family, at, size_of, &mut size, error)
        })?;
        // SAFETY: that many bytes, and ours.
        let found = || unsafe { Value::new(at, size, Owned::new(at.cast(), api.free)) };
        Ok((!at.is_null()).then(found))
    }

    /// Through batch and tables.
    fn pairs<'a>(&'a mut self, family: &'a Family) -> Result<Pairs<'a>> {
        let (api, batch, reads) = (self.api, self.indexed()?, self.reads.raw.raw);
        // SAFETY: all are open and lent to the iterator, which takes that of the tables over.
        unsafe {
            let tables = (api.create_iterator_cf)(family.db.raw.raw, reads, family.raw.raw);
            let through = api.writebatch_wi_create_iterator_with_base_cf;
            Ok(Pairs::new(api, through(batch, tables, family.raw.raw)))
        }
    }

    #[inline]
    fn put(&mut self, family: &Family, key: &[u8], value: &[u8]) -> Result<()> {
        let (put, batch) = match self.is_indexed {
            true => (self.api.writebatch_wi_put_cf, self.indexed.raw),
            false => (self.api.writebatch_put_cf, self.plain.raw),
        };
        let (family, at, size) = (family.raw.raw, value.as_ptr(), value.len());
        // SAFETY: open; key and value live through the call, which copies them.
        unsafe { put(batch, family, key.as_ptr(), key.len(), at, size) };
        Ok(())
    }

    #[inline]
    fn delete(&mut self, family: &Family, key: &[u8]) -> Result<()> {
        let (delete, batch) = (self.api.writebatch_wi_delete_cf, self.indexed()?);
        // SAFETY: open; the key lives through the call, which copies it.
        unsafe { delete(batch, family.raw.raw, key.as_ptr(), key.len()) };
        Ok(())
    }
}

/// Takes the next record: a column family's number, a key and a value.
fn record<'a>(rest: &mut &'a [u8]) -> Option<(u32, &'a [u8], &'a [u8])> {
    let (&tag, after) = rest.split_first()?;
    *rest = after;
    let family = number(rest)?;
    let pair = (text(rest)?, text(rest)?);
    (tag == PUT).then_some((family, pair.0, pair.1))
}

/// Takes a number of seven bits a byte, the lowest first; all bytes but the last have the eighth.
fn number(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let size = number(rest)? as usize;
    let (text, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some(text)
}

#[cold]
fn unknown_record() -> EngineError {
    EngineError::failed(ID, "index a batch", "it has a record of an unknown form")
}

#[cfg(test)]
mod tests;
