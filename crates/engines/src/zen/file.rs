//! A Btrieve file and its records.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::rc::Rc;

use super::NAME;
use super::client::{Client, Owned, check, error, int, text};
use super::ffi::{
    Api, CREATE_OVERWRITE, Comparison, DATA_TYPE_CHAR, DUPLICATES_LINKED, Handle,
    LOCATION_NO_PREFERENCE, LOCK_NONE, OpenMode, VARIABLE_LENGTH, status,
};
use crate::kv::Direction;
use crate::{EngineError, Result};

/// The index over the keys, `BTRIEVE_INDEX_1`.
pub(super) const PRIMARY: c_int = 0;

/// A number of bytes at a fixed offset of every record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub at: usize,
    pub length: usize,
}

impl Field {
    pub(super) const fn end(self) -> usize {
        self.at + self.length
    }
}

/// Makes an empty file, which replaces one of the same name, and opens it. Its records have any
/// length from `fixed` bytes on; `key` is unique.
pub(super) fn create(
    client: &Rc<Client>,
    path: &CStr,
    fixed: usize,
    key: Field,
    mode: OpenMode,
) -> Result<File> {
    const DOING: &str = "describe a file";
    let api = client.api;
    let file = Owned::new(api, api.FileAttributesAllocate, api.FileAttributesFree, DOING)?;
    file.set(api.FileAttributesSetFixedRecordLength, int(fixed))?;
    file.set(api.FileAttributesSetVariableLengthRecordsMode, VARIABLE_LENGTH)?;
    let index = Index::new(api, PRIMARY, key)?;
    // SAFETY: all handles are open, the path lives through the call.
    let code = unsafe {
        (api.ClientFileCreate)(
            client.raw(),
            file.raw(),
            index.index.raw(),
            path.as_ptr(),
            CREATE_OVERWRITE,
            LOCATION_NO_PREFERENCE,
        )
    };
    let doing = format!("create {} (as the user the engine runs as)", path.to_string_lossy());
    check(api, code, &doing)?;
    File::open(client, path, mode)?.ok_or_else(|| {
        EngineError::failed(NAME, "open a file that it has just created", "it does not exist")
    })
}

/// Removes a file that no client has open.
pub(super) fn delete(client: &Client, path: &CStr) -> Result<()> {
    // SAFETY: the session is open, the path lives through the call.
    let code = unsafe { (client.api.ClientFileDelete)(client.raw(), path.as_ptr()) };
    check(client.api, code, "delete a file")
}

/// The description of an index. The interface does not say whether it copies the segment, so the
/// segment is freed last.
struct Index {
    index: Owned,
    _segment: Owned,
}

impl Index {
    /// Describes an index over a field. Every index but the primary one allows duplicates.
    fn new(api: &'static Api, number: c_int, field: Field) -> Result<Self> {
        const DOING: &str = "describe an index";
        let segment = Owned::new(api, api.KeySegmentAllocate, api.KeySegmentFree, DOING)?;
        let (at, length) = (int(field.at), int(field.length));
        // SAFETY: the handle is open.
        let code = unsafe { (api.KeySegmentSetField)(segment.raw(), at, length, DATA_TYPE_CHAR) };
        check(api, code, DOING)?;
        let index = Owned::new(api, api.IndexAttributesAllocate, api.IndexAttributesFree, DOING)?;
        index.set(api.IndexAttributesSetIndex, number)?;
        if number != PRIMARY {
            index.set(api.IndexAttributesSetDuplicateMode, DUPLICATES_LINKED)?;
        }
        // SAFETY: both handles are open.
        let code = unsafe { (api.IndexAttributesAddKeySegment)(index.raw(), segment.raw()) };
        check(api, code, DOING)?;
        Ok(Self { index, _segment: segment })
    }
}

/// What a file reports about itself.
pub(super) struct Facts {
    /// Whether the engine's transaction log covers the file.
    pub loggable: bool,
    pub page_size: String,
    pub file_version: String,
    pub records: u64,
}

/// An open file. It has one cursor, which every retrieval moves.
pub(super) struct File {
    api: &'static Api,
    /// The session in which the file was opened.
    client: Rc<Client>,
    /// Null once the file is closed.
    raw: Handle,
}

impl File {
    /// Opens a file. Returns `None` if it does not exist.
    pub(super) fn open(client: &Rc<Client>, path: &CStr, mode: OpenMode) -> Result<Option<Self>> {
        let (api, mut raw) = (client.api, ptr::null_mut());
        // SAFETY: the session is open, the path lives through the call; the file has no owner
        // name.
        let code = unsafe {
            (api.ClientFileOpen)(
                client.raw(),
                &mut raw,
                path.as_ptr(),
                ptr::null(),
                mode as c_int,
                LOCATION_NO_PREFERENCE,
            )
        };
        if code == status::FILE_NOT_FOUND {
            return Ok(None);
        }
        check(api, code, &format!("open {}", path.to_string_lossy()))?;
        Ok(Some(Self { api, client: Rc::clone(client), raw }))
    }

    /// Adds an index over a field. Must not be called inside a transaction.
    pub(super) fn add_index(&self, number: usize, field: Field) -> Result<()> {
        let index = Index::new(self.api, int(number), field)?;
        // SAFETY: both handles are open.
        let code = unsafe { (self.api.FileIndexCreate)(self.raw, index.index.raw()) };
        check(self.api, code, "create an index")
    }

    /// Reads what the file reports about itself.
    pub(super) fn facts(&self) -> Result<Facts> {
        const DOING: &str = "read a file's description";
        let api = self.api;
        let facts = Owned::new(api, api.FileInformationAllocate, api.FileInformationFree, DOING)?;
        let raw = facts.raw();
        // SAFETY: both handles are open.
        check(api, unsafe { (api.FileGetInformation)(self.raw, raw) }, DOING)?;
        let last_status = api.FileInformationGetLastStatusCode;
        let loggable = facts.number(api.FileInformationGetLoggable, last_status)? > 0;
        let records = facts.number(api.FileInformationGetRecordCount, last_status)?;
        // SAFETY: the handle is open; there is a text for any number.
        let size = unsafe { (api.PageSizeToString)((api.FileInformationGetPageSize)(raw)) };
        // SAFETY: as above.
        let version =
            unsafe { (api.FileVersionToString)((api.FileInformationGetFileVersion)(raw)) };
        Ok(Facts { loggable, page_size: text(size), file_version: text(version), records })
    }

    /// Creates a record; returns false if its key exists already.
    #[inline]
    pub(super) fn create(&self, record: &mut [u8]) -> Result<bool> {
        let length = int(record.len());
        // SAFETY: open; the record lives through the call, which may write into it.
        match unsafe { (self.api.FileRecordCreate)(self.raw, record.as_mut_ptr().cast(), length) } {
            status::DUPLICATE_KEY_VALUE => Ok(false),
            code => check(self.api, code, "create a record").map(|()| true),
        }
    }

    /// Replaces the record under the cursor.
    #[inline]
    pub(super) fn update(&self, record: &[u8]) -> Result<()> {
        let length = int(record.len());
        // SAFETY: open; the record lives through the call.
        let code = unsafe { (self.api.FileRecordUpdate)(self.raw, record.as_ptr().cast(), length) };
        check(self.api, code, "update a record")
    }

    /// Deletes the record under the cursor.
    #[inline]
    pub(super) fn delete(&self) -> Result<()> {
        // SAFETY: open.
        check(self.api, unsafe { (self.api.FileRecordDelete)(self.raw) }, "delete a record")
    }

    /// Moves the cursor to the first record in that relation to `key`, reads it into `into` and
    /// returns its length. The key has the length of the index.
    #[inline]
    pub(super) fn retrieve(
        &self,
        comparison: Comparison,
        index: c_int,
        key: &[u8],
        into: &mut [u8],
    ) -> Result<Option<usize>> {
        let (relation, retrieve) = (comparison as c_int, self.api.FileRecordRetrieve);
        let (at, length) = (key.as_ptr().cast(), int(key.len()));
        let (record, size) = (into.as_mut_ptr().cast(), int(into.len()));
        // SAFETY: open; key and buffer live through the call, which writes no more than the given
        // size.
        let read =
            unsafe { retrieve(self.raw, relation, index, at, length, record, size, LOCK_NONE) };
        self.read(read, "retrieve a record")
    }

    /// Moves the cursor to the record with which a walk over an index begins.
    pub(super) fn edge(
        &self,
        direction: Direction,
        index: c_int,
        into: &mut [u8],
    ) -> Result<Option<usize>> {
        let first = match direction {
            Direction::Forward => self.api.FileRecordRetrieveFirst,
            Direction::Backward => self.api.FileRecordRetrieveLast,
        };
        // SAFETY: as for `retrieve`.
        let read =
            unsafe { first(self.raw, index, into.as_mut_ptr().cast(), int(into.len()), LOCK_NONE) };
        self.read(read, "retrieve the first record")
    }

    /// Moves the cursor on by one record.
    #[inline]
    pub(super) fn step(&self, direction: Direction, into: &mut [u8]) -> Result<Option<usize>> {
        let step = match direction {
            Direction::Forward => self.api.FileRecordRetrieveNext,
            Direction::Backward => self.api.FileRecordRetrievePrevious,
        };
        // SAFETY: as for `retrieve`.
        let read = unsafe { step(self.raw, into.as_mut_ptr().cast(), int(into.len()), LOCK_NONE) };
        self.read(read, "retrieve the next record")
    }

    /// Returns the number of bytes read, or `None` if no such record exists.
    #[inline]
    fn read(&self, read: c_int, doing: &str) -> Result<Option<usize>> {
        if let Ok(length) = usize::try_from(read) {
            return Ok(Some(length));
        }
        // SAFETY: open.
        match unsafe { (self.api.FileGetLastStatusCode)(self.raw) } {
            status::KEY_VALUE_NOT_FOUND | status::END_OF_FILE => Ok(None),
            code => Err(error(self.api, code, doing)),
        }
    }

    /// Returns the functions and the handle, for bulk operations.
    #[inline]
    pub(super) fn parts(&self) -> (&'static Api, Handle) {
        (self.api, self.raw)
    }

    /// Closes the file. Must not be called inside a transaction that changed it.
    pub(super) fn close(mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, ptr::null_mut());
        // A session that has ended has closed the file.
        if raw.is_null() || self.client.raw().is_null() {
            return Ok(());
        }
        // SAFETY: open until here, in an open session, and forgotten whatever this returns.
        let code = unsafe { (self.api.ClientFileClose)(self.client.raw(), raw) };
        check(self.api, code, "close a file")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // The error that led here is the one to report.
        let _ = self.release();
    }
}
