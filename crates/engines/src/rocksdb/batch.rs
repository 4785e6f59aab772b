//! What a transaction begun to write has changed.
//!
//! The library has two kinds of batches: a plain one, which cannot be read, and one with an index,
//! which costs several times as much to fill. So a transaction begins with the plain one, and
//! goes over to the other when it first reads.

use super::ID;
use super::api::{Api, Handle};
use super::db::{bytes, call};
use super::options::Options;
use crate::{EngineError, Result};

/// Bytes of a plain batch before its first record, and the tag of a record that puts a pair:
/// <https://github.com/facebook/rocksdb/blob/main/db/write_batch.cc>.
const HEADER: usize = 12;
const PUT: u8 = 5;

/// The changes of a transaction, freed when dropped.
pub(super) struct Batch<'a> {
    api: &'a Api,
    /// Holds the changes until `read`: nothing but pairs that were put.
    plain: Handle,
    /// Holds the changes from then on.
    indexed: Handle,
    read: bool,
}

impl<'a> Batch<'a> {
    /// An empty one.
    pub(super) fn new(api: &'a Api) -> Self {
        // SAFETY: freed when the batch is dropped. A key stands in the index once, as an iterator
        // over batch and tables asks for.
        let (plain, indexed) =
            unsafe { ((api.writebatch_create)(), (api.writebatch_wi_create)(0, 1)) };
        Self { api, plain, indexed, read: false }
    }

    /// Puts a pair.
    #[inline]
    pub(super) fn put(&mut self, family: Handle, key: &[u8], value: &[u8]) {
        let put =
            if self.read { self.api.writebatch_wi_put_cf } else { self.api.writebatch_put_cf };
        let batch = if self.read { self.indexed } else { self.plain };
        // SAFETY: ours; key and value live through the call, which copies them.
        unsafe { put(batch, family, key.as_ptr(), key.len(), value.as_ptr(), value.len()) };
    }

    /// The batch with an index, to be read and changed; `families` are all there are.
    #[inline]
    pub(super) fn indexed(&mut self, families: impl Iterator<Item = Handle>) -> Result<Handle> {
        if !self.read {
            self.go_over(families)?;
        }
        Ok(self.indexed)
    }

    #[cold]
    fn go_over(&mut self, families: impl Iterator<Item = Handle>) -> Result<()> {
        // SAFETY: the handles are open.
        let id = |family| unsafe { (self.api.column_family_handle_get_id)(family) };
        let families: Vec<(u32, Handle)> = families.map(|family| (id(family), family)).collect();
        self.read = true;
        let mut size = 0;
        // SAFETY: ours; nothing changes it while the bytes are used.
        let data = unsafe { bytes((self.api.writebatch_data)(self.plain, &mut size), size) };
        let mut rest = data.get(HEADER..).unwrap_or_default();
        while !rest.is_empty() {
            let (family, key, value) = record(&mut rest).ok_or_else(unknown_record)?;
            let family =
                families.iter().find(|(id, _)| *id == family).ok_or_else(unknown_record)?;
            self.put(family.1, key, value);
        }
        // SAFETY: ours.
        unsafe { (self.api.writebatch_clear)(self.plain) };
        Ok(())
    }

    /// Writes the changes to a database, after which there are none.
    pub(super) fn commit(&mut self, db: Handle, options: &Options<'_>) -> Result<()> {
        let (write, batch) = if self.read {
            (self.api.write_writebatch_wi, self.indexed)
        } else {
            (self.api.write, self.plain)
        };
        // SAFETY: all are open.
        let written =
            call(self.api, "commit", |error| unsafe { write(db, options.write, batch, error) });
        // SAFETY: ours.
        unsafe {
            let (clear, batch) = if self.read {
                (self.api.writebatch_wi_clear, self.indexed)
            } else {
                (self.api.writebatch_clear, self.plain)
            };
            clear(batch);
        }
        self.read = false;
        written
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
    EngineError::failed(ID, "index a transaction", "its batch has a record of an unknown form")
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and not used again.
        unsafe {
            (self.api.writebatch_destroy)(self.plain);
            (self.api.writebatch_wi_destroy)(self.indexed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_and_one_that_is_cut_short_or_of_another_kind_is_not() {
        let long = [7; 300];
        let mut data = vec![PUT, 0x81, 0x01, 2, b'a', b'b', 0xac, 0x02];
        data.extend(long);
        let mut rest = &data[..];
        assert_eq!(record(&mut rest), Some((129, &b"ab"[..], &long[..])));
        assert!(rest.is_empty() && record(&mut rest).is_none());
        assert_eq!(record(&mut &data[..data.len() - 1]), None);
        assert_eq!(record(&mut &[1, 1, 0, 0][..]), None);
    }
}
