//! The part of the Btrieve 2 C interface that is used here: names, order of arguments and numbers
//! as the public header `btrieveC.h` of PSQL 13.20 declares them. Zen 15 and 16 ship a newer
//! header, which could not be read; the functions are looked up by name, so that one that went
//! away is told of when the library is loaded, but one whose arguments changed could not be.

use std::ffi::{c_char, c_int, c_void};

use libloading::Library;

/// A `btrieve_client_t`, `btrieve_file_t` and so on: pointers to things of the library's own.
pub(super) type Handle = *mut c_void;

/// A `btrieve_status_code_t`, one of [`status`] or another error.
pub(super) type Status = c_int;

/// Makes a thing and stores its handle.
pub(super) type Allocate = unsafe extern "C" fn(*mut Handle) -> Status;
/// Frees a thing.
pub(super) type Free = unsafe extern "C" fn(Handle) -> Status;

/// The status codes that mean something here; the library has words for all of them.
pub(super) mod status {
    use super::Status;

    pub const NO_ERROR: Status = 0;
    pub const KEY_VALUE_NOT_FOUND: Status = 4;
    pub const DUPLICATE_KEY_VALUE: Status = 5;
    pub const END_OF_FILE: Status = 9;
    pub const FILE_NOT_FOUND: Status = 12;
    /// By its name it concerns filters, but an extended operation returns it as well when it is
    /// asked for more records than are left.
    pub const OPTIMIZE_LIMIT_REACHED: Status = 64;
}

/// `BTRIEVE_MAXIMUM_RECORD_LENGTH`, in bytes.
pub(super) const MAXIMUM_RECORD_LENGTH: usize = 60 * 1024;
/// `BTRIEVE_MAXIMUM_KEY_LENGTH`, in bytes.
pub(super) const MAXIMUM_KEY_LENGTH: usize = 255;
/// `BTRIEVE_INDEX_119`, the last of a user's indexes, counted from 0.
pub(super) const LAST_INDEX: usize = 118;

/// `BTRIEVE_CREATE_MODE_OVERWRITE`.
pub(super) const CREATE_OVERWRITE: c_int = 0;
/// `BTRIEVE_DATA_TYPE_CHAR`, which the manual calls STRING: compared byte by byte from left to
/// right, without a collating sequence by their values
/// (<http://docs.actian.com/psql/PSQLv11/sqlref/SQLDtype.10.5.html>). An unsigned binary would be
/// compared from right to left.
pub(super) const DATA_TYPE_CHAR: c_int = 0;
/// `BTRIEVE_DUPLICATE_MODE_ALLOWED_NONREPEATING`: records of one key value are linked together.
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
pub(super) enum OpenMode {
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

macro_rules! api {
    ($($name:ident = $symbol:literal ($($argument:ident: $of:ty),*) -> $result:ty;)*) => {
        /// The functions. Those that return a number return -1 in case of an error, whose status
        /// the `…_last_status` of their thing then tells.
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument: $of),*) -> $result,)*
        }

        impl Api {
            /// Looks all of them up.
            ///
            /// # Safety
            /// The library must be Zen's and must never be unloaded.
            pub(super) unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the header.
                unsafe { Ok(Self { $($name: *library.get($symbol)?,)* }) }
            }
        }
    };
}

api! {
    status_to_string = "BtrieveStatusCodeToString" (status: Status) -> *const c_char;

    client_allocate = "BtrieveClientAllocate" (
        client: *mut Handle, service_agent: c_int, client_id: c_int
    ) -> Status;
    client_free = "BtrieveClientFree" (client: Handle) -> Status;
    client_reset = "BtrieveClientReset" (client: Handle) -> Status;
    client_get_version = "BtrieveClientGetVersion" (
        client: Handle, version: Handle, file: Handle
    ) -> Status;
    client_begin = "BtrieveClientTransactionBegin" (
        client: Handle, mode: c_int, lock: c_int
    ) -> Status;
    client_end = "BtrieveClientTransactionEnd" (client: Handle) -> Status;
    client_abort = "BtrieveClientTransactionAbort" (client: Handle) -> Status;
    file_create = "BtrieveClientFileCreate" (
        client: Handle, file: Handle, index: Handle, path: *const c_char, create: c_int,
        location: c_int
    ) -> Status;
    file_delete = "BtrieveClientFileDelete" (client: Handle, path: *const c_char) -> Status;
    file_open = "BtrieveClientFileOpen" (
        client: Handle, file: *mut Handle, path: *const c_char, owner: *const c_char,
        mode: c_int, location: c_int
    ) -> Status;
    file_close = "BtrieveClientFileClose" (client: Handle, file: Handle) -> Status;

    version_allocate = "BtrieveVersionAllocate" (version: *mut Handle) -> Status;
    version_free = "BtrieveVersionFree" (version: Handle) -> Status;
    version_last_status = "BtrieveVersionGetLastStatusCode" (version: Handle) -> Status;
    version_client = "BtrieveVersionGetClientVersionNumber" (version: Handle) -> c_int;
    version_client_revision = "BtrieveVersionGetClientRevisionNumber" (version: Handle) -> c_int;
    version_local = "BtrieveVersionGetLocalVersionNumber" (version: Handle) -> c_int;
    version_local_revision = "BtrieveVersionGetLocalRevisionNumber" (version: Handle) -> c_int;

    attributes_allocate = "BtrieveFileAttributesAllocate" (attributes: *mut Handle) -> Status;
    attributes_free = "BtrieveFileAttributesFree" (attributes: Handle) -> Status;
    attributes_fixed_length = "BtrieveFileAttributesSetFixedRecordLength" (
        attributes: Handle, length: c_int
    ) -> Status;
    attributes_variable_length = "BtrieveFileAttributesSetVariableLengthRecordsMode" (
        attributes: Handle, mode: c_int
    ) -> Status;

    index_allocate = "BtrieveIndexAttributesAllocate" (index: *mut Handle) -> Status;
    index_free = "BtrieveIndexAttributesFree" (index: Handle) -> Status;
    index_number = "BtrieveIndexAttributesSetIndex" (index: Handle, number: c_int) -> Status;
    index_duplicates = "BtrieveIndexAttributesSetDuplicateMode" (
        index: Handle, mode: c_int
    ) -> Status;
    index_segment = "BtrieveIndexAttributesAddKeySegment" (
        index: Handle, segment: Handle
    ) -> Status;

    segment_allocate = "BtrieveKeySegmentAllocate" (segment: *mut Handle) -> Status;
    segment_free = "BtrieveKeySegmentFree" (segment: Handle) -> Status;
    segment_field = "BtrieveKeySegmentSetField" (
        segment: Handle, at: c_int, length: c_int, data_type: c_int
    ) -> Status;

    information_allocate = "BtrieveFileInformationAllocate" (information: *mut Handle) -> Status;
    information_free = "BtrieveFileInformationFree" (information: Handle) -> Status;
    information_last_status = "BtrieveFileInformationGetLastStatusCode" (
        information: Handle
    ) -> Status;
    information_loggable = "BtrieveFileInformationGetLoggable" (information: Handle) -> c_int;
    information_page_size = "BtrieveFileInformationGetPageSize" (information: Handle) -> c_int;
    information_file_version = "BtrieveFileInformationGetFileVersion" (
        information: Handle
    ) -> c_int;
    information_records = "BtrieveFileInformationGetRecordCount" (information: Handle) -> i64;
    page_size_to_string = "BtrievePageSizeToString" (page_size: c_int) -> *const c_char;
    file_version_to_string = "BtrieveFileVersionToString" (file_version: c_int) -> *const c_char;

    file_last_status = "BtrieveFileGetLastStatusCode" (file: Handle) -> Status;
    file_information = "BtrieveFileGetInformation" (file: Handle, information: Handle) -> Status;
    file_index_create = "BtrieveFileIndexCreate" (file: Handle, index: Handle) -> Status;
    record_create = "BtrieveFileRecordCreate" (
        file: Handle, record: *mut c_char, length: c_int
    ) -> Status;
    record_update = "BtrieveFileRecordUpdate" (
        file: Handle, record: *const c_char, length: c_int
    ) -> Status;
    record_delete = "BtrieveFileRecordDelete" (file: Handle) -> Status;
    record_retrieve = "BtrieveFileRecordRetrieve" (
        file: Handle, comparison: c_int, index: c_int, key: *const c_char, key_length: c_int,
        record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    record_first = "BtrieveFileRecordRetrieveFirst" (
        file: Handle, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    record_last = "BtrieveFileRecordRetrieveLast" (
        file: Handle, index: c_int, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    record_next = "BtrieveFileRecordRetrieveNext" (
        file: Handle, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;
    record_previous = "BtrieveFileRecordRetrievePrevious" (
        file: Handle, record: *mut c_char, size: c_int, lock: c_int
    ) -> c_int;

    payload_allocate = "BtrieveBulkCreatePayloadAllocate" (payload: *mut Handle) -> Status;
    payload_free = "BtrieveBulkCreatePayloadFree" (payload: Handle) -> Status;
    payload_add = "BtrieveBulkCreatePayloadAddRecord" (
        payload: Handle, record: *const c_char, length: c_int
    ) -> Status;
    created_allocate = "BtrieveBulkCreateResultAllocate" (result: *mut Handle) -> Status;
    created_free = "BtrieveBulkCreateResultFree" (result: Handle) -> Status;
    created_count = "BtrieveBulkCreateResultGetRecordCount" (result: Handle) -> c_int;
    bulk_create = "BtrieveFileBulkCreate" (
        file: Handle, payload: Handle, result: Handle
    ) -> Status;

    wanted_allocate = "BtrieveBulkRetrieveAttributesAllocate" (wanted: *mut Handle) -> Status;
    wanted_free = "BtrieveBulkRetrieveAttributesFree" (wanted: Handle) -> Status;
    wanted_field = "BtrieveBulkRetrieveAttributesAddField" (
        wanted: Handle, at: c_int, length: c_int
    ) -> Status;
    wanted_count = "BtrieveBulkRetrieveAttributesSetMaximumRecordCount" (
        wanted: Handle, records: c_int
    ) -> Status;
    wanted_skip = "BtrieveBulkRetrieveAttributesSetSkipCurrentRecord" (
        wanted: Handle, skip: c_int
    ) -> Status;
    found_allocate = "BtrieveBulkRetrieveResultAllocate" (result: *mut Handle) -> Status;
    found_free = "BtrieveBulkRetrieveResultFree" (result: Handle) -> Status;
    found_last_status = "BtrieveBulkRetrieveResultGetLastStatusCode" (result: Handle) -> Status;
    found_count = "BtrieveBulkRetrieveResultGetRecordCount" (result: Handle) -> c_int;
    found_record = "BtrieveBulkRetrieveResultGetRecord" (
        result: Handle, number: c_int, record: *mut c_char, size: c_int
    ) -> c_int;
    bulk_next = "BtrieveFileBulkRetrieveNext" (
        file: Handle, wanted: Handle, result: Handle, lock: c_int
    ) -> Status;
    bulk_previous = "BtrieveFileBulkRetrievePrevious" (
        file: Handle, wanted: Handle, result: Handle, lock: c_int
    ) -> Status;
}
