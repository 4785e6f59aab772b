//! Walks over an index of a file.

use std::ffi::c_int;
use std::ops::ControlFlow;

use super::NAME;
use super::client::{Owned, check, error, int};
use super::ffi::{Comparison, LOCK_NONE, status};
use super::file::File;
use crate::kv::{Direction, Range};
use crate::{EngineError, Result};

/// Number of records fetched one by one before a walk changes to bulk retrieval, which a walk over
/// only the first few records of a range would pay for in vain.
const SINGLE: u32 = 8;
/// Number of bytes of the records of the first bulk retrieval and of the largest; each is four
/// times the one before. The manual bounds their sum by a setting of the engine, the extended
/// operation buffer (<http://docs.actian.com/psql/PSQLv11/btrieveapi/btrapi.2.42.html>), which
/// cannot be read back. The longest record always has to fit, so anything smaller fits as well.
const BATCH: (usize, usize) = (4 << 10, 48 << 10);

/// Where a walk begins: at the first record in that relation to a key, or at the end of the index.
pub(super) type Start<'a> = Option<(Comparison, &'a [u8])>;

/// Returns where the walk over a range of keys begins. `key` is as long as every key, and is used
/// to make the bound of the range as long.
pub(super) fn start<'a>(range: Range<'_>, key: &'a mut [u8]) -> Start<'a> {
    let limit = match range.direction {
        Direction::Forward => range.from,
        Direction::Backward => range.to,
    }?;
    let comparison = comparison(limit, range.direction, key.len());
    fit_length(limit, key);
    Some((comparison, key))
}

/// A walk over an index in one direction.
pub(super) struct Walk<'a> {
    pub file: &'a File,
    pub index: c_int,
    pub direction: Direction,
    /// Has room for every record of the file.
    pub record: &'a mut [u8],
    /// The length of every record, if they all have the same: bulk retrieval takes this many bytes
    /// of each, and fails at a shorter one.
    pub uniform: Option<usize>,
}

impl Walk<'_> {
    /// Passes the records to `see` one after the other until there are none left or `see` breaks.
    pub(super) fn go(
        &mut self,
        start: Start<'_>,
        see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut read = match start {
            None => self.file.edge(self.direction, self.index, self.record)?,
            Some((relation, key)) => self.file.retrieve(relation, self.index, key, self.record)?,
        };
        let mut single = 0;
        while let Some(length) = read {
            if see(&self.record[..length]).is_break() {
                return Ok(());
            }
            single += 1;
            if single == SINGLE
                && let Some(length) = self.uniform
            {
                return self.bulk(length, see);
            }
            read = self.file.step(self.direction, self.record)?;
        }
        Ok(())
    }

    /// Continues from the record under the cursor, many records at a time.
    fn bulk(&mut self, length: usize, see: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        const DOING: &str = "retrieve records in bulk";
        let (api, file) = self.file.parts();
        let (allocate, free) = (api.BulkRetrieveAttributesAllocate, api.BulkRetrieveAttributesFree);
        let wanted = Owned::new(api, allocate, free, DOING)?;
        // SAFETY: the handle is open.
        let code = unsafe { (api.BulkRetrieveAttributesAddField)(wanted.raw(), 0, int(length)) };
        check(api, code, DOING)?;
        wanted.set(api.BulkRetrieveAttributesSetSkipCurrentRecord, 1)?;
        let retrieve = match self.direction {
            Direction::Forward => api.FileBulkRetrieveNext,
            Direction::Backward => api.FileBulkRetrievePrevious,
        };
        let mut bytes = BATCH.0;
        loop {
            let most = int((bytes / length).max(1));
            wanted.set(api.BulkRetrieveAttributesSetMaximumRecordCount, most)?;
            // A new result, so that what an earlier call has left in it is never taken for an
            // answer.
            let found =
                Owned::new(api, api.BulkRetrieveResultAllocate, api.BulkRetrieveResultFree, DOING)?;
            // SAFETY: all handles are open.
            let code = unsafe { retrieve(file, wanted.raw(), found.raw(), LOCK_NONE) };
            // According to the manual, a status other than 0 may come with records
            // (<http://docs.actian.com/psql/PSQLv11/btrieveapi/btrapi.2.42.html>).
            let last = match code {
                status::NO_ERROR => false,
                status::END_OF_FILE | status::OPTIMIZE_LIMIT_REACHED => true,
                code => return Err(error(api, code, DOING)),
            };
            let count = api.BulkRetrieveResultGetRecordCount;
            let last_status = api.BulkRetrieveResultGetLastStatusCode;
            let records = match found.number(count, last_status) {
                Err(_) if last => 0,
                counted => c_int::try_from(counted?).unwrap_or(c_int::MAX),
            };
            for number in 0..records {
                let (into, size) = (self.record.as_mut_ptr().cast(), int(self.record.len()));
                // SAFETY: the handle is open, and the buffer has the given size.
                let get =
                    |raw| unsafe { (api.BulkRetrieveResultGetRecord)(raw, number, into, size) };
                let read = found.number_by(get, last_status)? as usize;
                if read != length {
                    let message = format!("a record of {read} bytes among those of {length}");
                    return Err(EngineError::failed(NAME, DOING, message));
                }
                if see(&self.record[..length]).is_break() {
                    return Ok(());
                }
            }
            if last || records == 0 {
                return Ok(());
            }
            bytes = BATCH.1.min(bytes * 4);
        }
    }
}

/// Returns the relation that the first key within the range has to the [fitted](fit_length) bound:
/// from the bound on for a forward walk, below the bound for a backward one.
fn comparison(bound: &[u8], direction: Direction, length: usize) -> Comparison {
    // A longer bound, once cut off, is the key just below it.
    match (direction, bound.len() > length) {
        (Direction::Forward, false) => Comparison::GreaterThanOrEqual,
        (Direction::Forward, true) => Comparison::GreaterThan,
        (Direction::Backward, false) => Comparison::LessThan,
        (Direction::Backward, true) => Comparison::LessThanOrEqual,
    }
}

/// Makes a bound as long as `key`: cuts off a longer one, and pads a shorter one with zeros, which
/// gives the lowest key that begins with it. The engine only compares keys of the same length.
fn fit_length(bound: &[u8], key: &mut [u8]) {
    let shared = bound.len().min(key.len());
    let (head, tail) = key.split_at_mut(shared);
    head.copy_from_slice(&bound[..shared]);
    tail.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitted_bound_lets_in_the_same_keys_as_the_bound_itself() {
        let values = [0, 1, 0x7f, 0x80, 0xff];
        let keys: Vec<[u8; 2]> =
            values.iter().flat_map(|&a| values.iter().map(move |&b| [a, b])).collect();
        let mut bounds: Vec<Vec<u8>> = keys.iter().map(|key| key.to_vec()).collect();
        bounds.extend(values.iter().map(|&a| vec![a]));
        bounds.extend(
            keys.iter()
                .flat_map(|key| [[key[0], key[1], 0], [key[0], key[1], 0xff]])
                .map(Vec::from),
        );
        bounds.push(Vec::new());
        for bound in &bounds {
            let mut fitted = [0xaa; 2];
            fit_length(bound, &mut fitted);
            for key in &keys {
                for direction in [Direction::Forward, Direction::Backward] {
                    let within = match comparison(bound, direction, 2) {
                        Comparison::GreaterThanOrEqual => *key >= fitted,
                        Comparison::GreaterThan => *key > fitted,
                        Comparison::LessThan => *key < fitted,
                        Comparison::LessThanOrEqual => *key <= fitted,
                        Comparison::Equal => panic!("no range"),
                    };
                    let expected = match direction {
                        Direction::Forward => key[..] >= bound[..],
                        Direction::Backward => key[..] < bound[..],
                    };
                    assert_eq!(within, expected, "{key:?} and {bound:?} {direction:?}");
                }
            }
        }
    }
}
