//! The functions of libpq that are used, as its header `libpq-fe.h` declares them:
//! <https://www.postgresql.org/docs/18/libpq.html>.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::library::functions;

/// A `PGconn` or a `PGresult`: pointers to libpq's objects.
pub(super) type Handle = *mut c_void;

/// Number of a type, `pg_type.oid`.
pub(super) type Oid = c_uint;

/// Receives a notice or a warning of the server.
pub(super) type NoticeProcessor = unsafe extern "C" fn(of: *mut c_void, message: *const c_char);

/// A `PQconninfoOption`: an option of a connection. Only the name and the value are used.
#[repr(C)]
pub(super) struct ConninfoOption {
    /// Null after the last one.
    pub keyword: *const c_char,
    environment: *const c_char,
    compiled: *const c_char,
    /// Null if it is not given.
    pub value: *const c_char,
    label: *const c_char,
    display: *const c_char,
    size: c_int,
}

/// `PQstatus` of a usable connection.
pub(super) const CONNECTION_OK: c_int = 0;

/// `PQresultStatus`: no statement, a statement without rows, and the end of rows.
pub(super) const DONE: [c_int; 3] = [0, 1, 2];

/// The server waits for the rows of a COPY, has some for the client, or both.
pub(super) const COPY: [c_int; 3] = [COPY_IN, 3, 8];
pub(super) const COPY_IN: c_int = 4;

/// Some of the rows: one at a time, and in chunks.
pub(super) const SOME_ROWS: [c_int; 2] = [9, 12];

/// The end of a group of statements in a pipeline, and a statement that was skipped after one that
/// failed.
pub(super) const PIPELINE_SYNC: c_int = 10;
pub(super) const PIPELINE_ABORTED: c_int = 11;

/// Formats of parameters and results.
pub(super) const TEXT: c_int = 0;
pub(super) const BINARY: c_int = 1;

/// `PQsetChunkedRowsMode`, since libpq 17.
pub(super) type SetChunkedRowsMode = unsafe extern "C" fn(connection: Handle, rows: c_int) -> c_int;

functions! {
    /// The functions of pipelines, since libpq 14, without the `PQ` of their names.
    pub(super) struct PipelineApi of "PQ";

    enterPipelineMode(connection: Handle) -> c_int;
    exitPipelineMode(connection: Handle) -> c_int;
    pipelineSync(connection: Handle) -> c_int;
}

functions! {
    /// The functions, without the `PQ` of their names.
    pub(super) struct Api of "PQ";

    libVersion() -> c_int;
    isthreadsafe() -> c_int;

    conninfoParse(text: *const c_char, error: *mut *mut c_char) -> *mut ConninfoOption;
    conninfoFree(options: *mut ConninfoOption);
    freemem(pointer: *mut c_void);
    connectdbParams(
        keywords: *const *const c_char, values: *const *const c_char, expand: c_int
    ) -> Handle;
    status(connection: Handle) -> c_int;
    errorMessage(connection: Handle) -> *const c_char;
    setNoticeProcessor(
        connection: Handle, processor: NoticeProcessor, of: *mut c_void
    ) -> Option<NoticeProcessor>;
    serverVersion(connection: Handle) -> c_int;
    finish(connection: Handle);

    sendQuery(connection: Handle, sql: *const c_char) -> c_int;
    sendPrepare(
        connection: Handle, name: *const c_char, sql: *const c_char, count: c_int,
        types: *const Oid
    ) -> c_int;
    sendDescribePrepared(connection: Handle, name: *const c_char) -> c_int;
    sendQueryPrepared(
        connection: Handle, name: *const c_char, count: c_int, values: *const *const c_char,
        lengths: *const c_int, formats: *const c_int, result_format: c_int
    ) -> c_int;
    setSingleRowMode(connection: Handle) -> c_int;
    getResult(connection: Handle) -> Handle;
    putCopyData(connection: Handle, bytes: *const c_char, count: c_int) -> c_int;
    putCopyEnd(connection: Handle, error: *const c_char) -> c_int;

    resultStatus(result: Handle) -> c_int;
    resultErrorField(result: Handle, field: c_int) -> *const c_char;
    resultErrorMessage(result: Handle) -> *const c_char;
    cmdTuples(result: Handle) -> *const c_char;
    nparams(result: Handle) -> c_int;
    paramtype(result: Handle, number: c_int) -> Oid;
    ntuples(result: Handle) -> c_int;
    nfields(result: Handle) -> c_int;
    fname(result: Handle, column: c_int) -> *const c_char;
    ftype(result: Handle, column: c_int) -> Oid;
    getisnull(result: Handle, row: c_int, column: c_int) -> c_int;
    getlength(result: Handle, row: c_int, column: c_int) -> c_int;
    getvalue(result: Handle, row: c_int, column: c_int) -> *const c_char;
    clear(result: Handle);
}
