//! The part of the Btrieve 2 C interface that is used here. Names, order of arguments and numbers
//! are those that the public header `btrieveC.h` of PSQL 13.20 declares. Zen 15 and 16 ship a newer
//! header, which could not be read. The functions are looked up by name, so a function that was
//! removed is reported when the library is loaded, but one whose arguments changed could not be.

use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;

use crate::library::{Loaded, Search, functions};

/// A `btrieve_client_t`, `btrieve_file_t` and so on: a pointer to an object of the library.
pub(super) type Handle = *mut c_void;

/// A `btrieve_status_code_t`, one of [`status`] or another error.
pub(super) type Status = c_int;

/// Makes an object and stores its handle.
pub(super) type Allocate = unsafe extern "C" fn(*mut Handle) -> Status;
/// Frees an object.
pub(super) type Free = unsafe extern "C" fn(Handle) -> Status;
/// Sets a property of an object.
pub(super) type Set = unsafe extern "C" fn(Handle, c_int) -> Status;

/// The status codes that have a meaning here; the library has words for all of them.
pub(super) mod status {
    use super::Status;

    pub const NO_ERROR: Status = 0;
    pub const KEY_VALUE_NOT_FOUND: Status = 4;
    pub const DUPLICATE_KEY_VALUE: Status = 5;
    pub const END_OF_FILE: Status = 9;
    pub const FILE_NOT_FOUND: Status = 12;
    /// By its name this code concerns filters, but an extended operation also returns it when it is
    /// asked for more records than are left.
    pub const OPTIMIZE_LIMIT_REACHED: Status = 64;
}

/// `BTRIEVE_MAXIMUM_RECORD_LENGTH`, in bytes.
pub(super) const MAXIMUM_RECORD_LENGTH: usize = 60 * 1024;
/// `BTRIEVE_MAXIMUM_KEY_LENGTH`, in bytes.
pub(super) const MAXIMUM_KEY_LENGTH: usize = 255;
/// `BTRIEVE_INDEX_119`, the last index that a user may define, counted from 0.
pub(super) const LAST_INDEX: usize = 118;

/// `BTRIEVE_CREATE_MODE_OVERWRITE`.
pub(super) const CREATE_OVERWRITE: c_int = 0;
/// `BTRIEVE_DATA_TYPE_CHAR`, which the manual calls STRING: compared byte by byte from left to
/// right, by value if there is no collating sequence
/// (<http://docs.actian.com/psql/PSQLv11/sqlref/SQLDtype.10.5.html>). An unsigned binary would be
/// compared from right to left.
pub(super) const DATA_TYPE_CHAR: c_int = 0;
/// `BTRIEVE_DUPLICATE_MODE_ALLOWED_NONREPEATING`: records with the same key value are linked.
pub(super) const DUPLICATES_LINKED: c_int = 1;
/// `BTRIEVE_LOCATION_MODE_NO_PREFERENCE`.
pub(super) const LOCATION_NO_PREFERENCE: c_int = 0;
/// `BTRIEVE_LOCK_MODE_NONE`.
pub(super) const LOCK_NONE: c_int = 0;
/// `BTRIEVE_TRANSACTION_MODE_EXCLUSIVE`.
pub(super) const TRANSACTION_EXCLUSIVE: c_int = 0;
/// `BTRIEVE_VARIABLE_LENGTH_RECORDS_MODE_YES`.
pub(super) const VARIABLE_LENGTH: c_int = 1;

/// A `btrieve_open_mode_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum OpenMode {
    Normal = 0,
    Accelerated = 1,
}

/// A `btrieve_comparison_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Comparison {
    Equal = 1,
    GreaterThan = 2,
    LessThan = 3,
    GreaterThanOrEqual = 5,
    LessThanOrEqual = 6,
}

/// The folders in which Zen, and PSQL before it, are installed.
const FOLDERS: [&str; 2] = ["/usr/local/actianzen/lib64", "/usr/local/psql/lib64"];

/// The environment variable that names the folder of the library.
pub(super) const VARIABLE: &str = "ZEN_LIB_DIR";

pub(super) static LIBRARY: Loaded<Api> = Loaded::new(
    super::NAME,
    "install Actian Zen 15 or newer (its client and engine), then set ZEN_LIB_DIR to the folder \
     that holds libbtrieveC.so",
    load,
);

fn load() -> Result<(Api, PathBuf), String> {
    let folders = FOLDERS.map(PathBuf::from);
    let search = Search { variable: VARIABLE, file: "libbtrieveC.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is Zen's, and it is never unloaded.
    Ok((unsafe { Api::load(library) }?, path))
}

functions! {
    /// The functions, each without the `Btrieve` in its name. Those that return a number return -1
    /// in case of an error; the `…GetLastStatusCode` of their object then returns the status.
    pub(super) struct Api of "Btrieve";

    StatusCodeToString(status: Status) -> *const c_char;

    ClientAllocate(client: *mut Handle, service_agent: c_int, client_id: c_int) -> Status;
    ClientFree(client: Handle) -> Status;
    ClientReset(client: Handle) -> Status;
    ClientGetVersion(client: Handle, version: Handle, file: Handle) -> Status;
    ClientTransactionBegin(client: Handle, mode: c_int, lock: c_int) -> Status;
    ClientTransactionEnd(client: Handle) -> Status;
    ClientTransactionAbort(client: Handle) -> Status;
    ClientFileCreate(
        client: Handle, file: Handle, index: Handle, path: *const c_char, create: c_int,
        location: c_int
    ) -> Status;
    ClientFileDelete(client: Handle, path: *const c_char) -> Status;
    ClientFileOpen(
        client: Handle, file: *mut Handle, path: *const c_char, owner: *const c_char,
        mode: c_int, location: c_int
    ) -> Status;
    ClientFileClose(client: Handle, file: Handle) -> Status;

    VersionAllocate(version: *mut Handle) -> Status;
    VersionFree(version: Handle) -> Status;
    VersionGetLastStatusCode(version: Handle) -> Status;
    VersionGetClientVersionNumber(version: Handle) -> c_int;
    VersionGetClientRevisionNumber(version: Handle) -> c_int;
    VersionGetLocalVersionNumber(version: Handle) -> c_int;
    VersionGetLocalRevisionNumber(version: Handle) -> c_int;

    FileAttributesAllocate(attributes: *mut Handle) -> Status;
    FileAttributesFree(attributes: Handle) -> Status;
    FileAttributesSetFixedRecordLength(attributes: Handle, length: c_int) -> Status;
    FileAttributesSetVariableLengthRecordsMode(attributes: Handle, mode: c_int) -> Status;

    IndexAttributesAllocate(index: *mut Handle) -> Status;
    IndexAttributesFree(index: Handle) -> Status;
    IndexAttributesSetIndex(index: Handle, number: c_int) -> Status;
    IndexAttributesSetDuplicateMode(index: Handle, mode: c_int) -> Status;
    IndexAttributesAddKeySegment(index: Handle, segment: Handle) -> Status;

    KeySegmentAllocate(segment: *mut Handle) -> Status;
    KeySegmentFree(segment: Handle) -> Status;
    KeySegmentSetField(segment: Handle, at: c_int, length: c_int, data_type: c_int) -> Status;

    FileInformationAllocate(information: *mut Handle) -> Status;
    FileInformationFree(information: Handle) -> Status;
    FileInformationGetLastStatusCode(information: Handle) -> Status;
    FileInformationGetLoggable(information: Handle) -> c_int;
    FileInformationGetPageSize(information: Handle) -> c_int;
    FileInformationGetFileVersion(information: Handle) -> c_int;
    FileInformationGetRecordCount(information: Handle) -> i64;
    PageSizeToString(page_size: c_int) -> *const c_char;
    FileVersionToString(file_version: c_int) -> *const c_char;

    FileGetLastStatusCode(file: Handle) -> Status;
    FileGetInformation(file: Handle, information: Handle) -> Status;
    FileIndexCreate(file: Handle, index: Handle) -> Status;
    FileRecordCreate(file: Handle, record: *mut c_char, length: c_int) -> Status;
    FileRecordUpdate(file: Handle, record: *const c_char, length: c_int) -> Status;
    FileRecordDelete(file: Handle) -> Status;
    FileRecordRetrieve(
        file: Handle, comparison: c_int, index: c_int, key: *const c_char, key_length: c_int,
        record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    FileRecordRetrieveFirst(
        file: Handle, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    FileRecordRetrieveLast(
        file: Handle, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    FileRecordRetrieveNext(file: Handle, record: *mut c_char, size: c_int, lock: c_int) -> c_int;
    FileRecordRetrievePrevious(
        file: Handle, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;

    BulkCreatePayloadAllocate(payload: *mut Handle) -> Status;
    BulkCreatePayloadFree(payload: Handle) -> Status;
    BulkCreatePayloadAddRecord(payload: Handle, record: *const c_char, length: c_int) -> Status;
    BulkCreateResultAllocate(result: *mut Handle) -> Status;
    BulkCreateResultFree(result: Handle) -> Status;
    BulkCreateResultGetRecordCount(result: Handle) -> c_int;
    FileBulkCreate(file: Handle, payload: Handle, result: Handle) -> Status;

    BulkRetrieveAttributesAllocate(wanted: *mut Handle) -> Status;
    BulkRetrieveAttributesFree(wanted: Handle) -> Status;
    BulkRetrieveAttributesAddField(wanted: Handle, at: c_int, length: c_int) -> Status;
    BulkRetrieveAttributesSetMaximumRecordCount(wanted: Handle, records: c_int) -> Status;
    BulkRetrieveAttributesSetSkipCurrentRecord(wanted: Handle, skip: c_int) -> Status;
    BulkRetrieveResultAllocate(result: *mut Handle) -> Status;
    BulkRetrieveResultFree(result: Handle) -> Status;
    BulkRetrieveResultGetLastStatusCode(result: Handle) -> Status;
    BulkRetrieveResultGetRecordCount(result: Handle) -> c_int;
    BulkRetrieveResultGetRecord(
        result: Handle, number: c_int, record: *mut c_char, size: c_int
    ) -> c_int;
    FileBulkRetrieveNext(file: Handle, wanted: Handle, result: Handle, lock: c_int) -> Status;
    FileBulkRetrievePrevious(file: Handle, wanted: Handle, result: Handle, lock: c_int) -> Status;
}
