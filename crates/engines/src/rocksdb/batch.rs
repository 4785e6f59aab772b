//! The pairs in a batch. The library's C interface returns a batch as the records of its log
//! (<https://github.com/facebook/rocksdb/blob/main/db/write_batch.cc>).

use super::ID;
use crate::{EngineError, Result};

/// Bytes of a batch before its first record, and the tag of a record that puts a pair into a column
/// family.
const HEADER: usize = 12;
const PUT: u8 = 5;

/// Calls `see` with each pair of a batch and the number of its column family.
pub(super) fn puts(batch: &[u8], mut see: impl FnMut(u32, &[u8], &[u8])) -> Result<()> {
    let mut rest = batch.get(HEADER..).unwrap_or_default();
    while !rest.is_empty() {
        let Some((family, key, value)) = record(&mut rest) else {
            return Err(EngineError::failed(ID, "read a batch", "it has a record of unknown form"));
        };
        see(family, key, value);
    }
    Ok(())
}

/// Takes the next record: a column family's number, a key, and a value.
fn record<'a>(rest: &mut &'a [u8]) -> Option<(u32, &'a [u8], &'a [u8])> {
    let (&tag, after) = rest.split_first()?;
    *rest = after;
    let family = number(rest)?;
    let pair = (text(rest)?, text(rest)?);
    (tag == PUT).then_some((family, pair.0, pair.1))
}

/// Takes a number with seven bits per byte, lowest first. All bytes except the last have the eighth
/// bit set.
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
