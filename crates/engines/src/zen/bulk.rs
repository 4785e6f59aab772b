//! Creating records in bulk.

use super::NAME;
use super::client::{Owned, check, int};
use super::file::File;
use crate::{EngineError, Result};

/// Number of bytes of the records of a payload. The interface names no limit; that of a single
/// record, 60 KiB, is assumed to apply.
const PAYLOAD: usize = 48 << 10;
/// The most that a record adds to a payload besides its bytes.
const OVERHEAD: usize = 8;

const DOING: &str = "create records in bulk";

/// Records on their way into a file; every call has the same file.
#[derive(Default)]
pub(super) struct Batch {
    /// None until there is a record. The interface cannot empty a payload.
    payload: Option<Owned>,
    records: u64,
    bytes: usize,
}

impl Batch {
    /// Adds a record, and first creates those before it if there is no room left.
    pub(super) fn add(&mut self, file: &File, record: &mut [u8]) -> Result<()> {
        let needed = record.len() + OVERHEAD;
        if self.bytes + needed > PAYLOAD {
            self.flush(file)?;
        }
        if needed > PAYLOAD {
            return match file.create(record)? {
                true => Ok(()),
                false => Err(EngineError::failed(NAME, DOING, "a key exists already")),
            };
        }
        let (api, _) = file.parts();
        let (allocate, free) = (api.BulkCreatePayloadAllocate, api.BulkCreatePayloadFree);
        let payload = match &self.payload {
            Some(payload) => payload,
            None => self.payload.insert(Owned::new(api, allocate, free, DOING)?),
        };
        let length = int(record.len());
        // SAFETY: the handle is open; the record lives through the call.
        let code = unsafe {
            (api.BulkCreatePayloadAddRecord)(payload.raw(), record.as_ptr().cast(), length)
        };
        check(api, code, DOING)?;
        self.records += 1;
        self.bytes += needed;
        Ok(())
    }

    /// Creates the records that were added.
    pub(super) fn flush(&mut self, file: &File) -> Result<()> {
        let Some(payload) = self.payload.take() else { return Ok(()) };
        let (api, file) = file.parts();
        let result =
            Owned::new(api, api.BulkCreateResultAllocate, api.BulkCreateResultFree, DOING)?;
        // SAFETY: all handles are open.
        let code = unsafe { (api.FileBulkCreate)(file, payload.raw(), result.raw()) };
        check(api, code, DOING)?;
        // SAFETY: the handle is open and was filled.
        let created = unsafe { (api.BulkCreateResultGetRecordCount)(result.raw()) };
        if u64::try_from(created) != Ok(self.records) {
            let message = format!("it created {created} of {} records", self.records);
            return Err(EngineError::failed(NAME, DOING, message));
        }
        (self.records, self.bytes) = (0, 0);
        Ok(())
    }
}
