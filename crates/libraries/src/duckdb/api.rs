//! The part of DuckDB's C interface that is used here, as its header `duckdb.h` declares it:
//! <https://duckdb.org/docs/stable/clients/c/api>.

use std::ffi::{c_char, c_void};

use crate::functions;

/// A `duckdb_database`, `duckdb_connection`, `duckdb_prepared_statement` and so on: pointers to
/// DuckDB's objects.
pub type Handle = *mut c_void;

/// Function that destroys an object of DuckDB and sets it to null. It does nothing for null.
pub type Destroy = unsafe extern "C" fn(thing: *mut Handle);

/// An owning pointer to a DuckDB object, null until a call makes it. Destroyed when dropped.
pub struct Owned {
    /// The pointer.
    pub raw: Handle,
    destroy: Destroy,
}

impl Owned {
    /// Wraps an object or null, with the function that destroys its kind.
    pub const fn new(raw: Handle, destroy: Destroy) -> Self {
        Self { raw, destroy }
    }

    /// Makes a null pointer that a call will set.
    pub const fn null(destroy: Destroy) -> Self {
        Self::new(std::ptr::null_mut(), destroy)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the function is that of the object's kind, and the object is destroyed once.
        unsafe { (self.destroy)(&raw mut self.raw) };
    }
}

/// A `duckdb_state`: [`SUCCESS`] or an error.
pub type State = u32;
/// `DuckDBSuccess`.
pub const SUCCESS: State = 0;

/// `duckdb_statement_type` of a query.
pub const SELECT: u32 = 1;

/// A `duckdb_type`, one of [`types`].
pub type TypeId = u32;

/// Numbers of the types that are read or written here.
#[allow(missing_docs, reason = "names as the header has them")]
pub mod types {
    use super::TypeId;

    pub const BOOLEAN: TypeId = 1;
    pub const TINYINT: TypeId = 2;
    pub const SMALLINT: TypeId = 3;
    pub const INTEGER: TypeId = 4;
    pub const BIGINT: TypeId = 5;
    pub const UTINYINT: TypeId = 6;
    pub const USMALLINT: TypeId = 7;
    pub const UINTEGER: TypeId = 8;
    pub const UBIGINT: TypeId = 9;
    pub const FLOAT: TypeId = 10;
    pub const DOUBLE: TypeId = 11;
    pub const HUGEINT: TypeId = 16;
    pub const VARCHAR: TypeId = 17;
    pub const BLOB: TypeId = 18;
    pub const DECIMAL: TypeId = 19;
    pub const TIMESTAMP: TypeId = 12;
    pub const DATE: TypeId = 13;
    pub const TIME: TypeId = 14;
    pub const TIMESTAMP_S: TypeId = 20;
    pub const TIMESTAMP_MS: TypeId = 21;
    pub const TIMESTAMP_NS: TypeId = 22;
    pub const TIMESTAMP_TZ: TypeId = 31;
}

/// A `duckdb_result`. Its old fields must not be read any more.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawResult {
    old_counts: [u64; 3],
    old_columns: *mut c_void,
    old_error: *mut c_char,
    internal: *mut c_void,
}

impl RawResult {
    /// A result that a call fills.
    pub const EMPTY: Self = Self {
        old_counts: [0; 3],
        old_columns: std::ptr::null_mut(),
        old_error: std::ptr::null_mut(),
        internal: std::ptr::null_mut(),
    };
}

/// A `duckdb_string_t`: up to 12 bytes are stored in it, more are stored elsewhere.
#[repr(C)]
#[derive(Clone, Copy)]
pub union RawString {
    inlined: Inlined,
    pointer: Pointer,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Inlined {
    length: u32,
    bytes: [u8; 12],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pointer {
    length: u32,
    prefix: [u8; 4],
    bytes: *const u8,
}

impl RawString {
    /// Returns its bytes.
    ///
    /// # Safety
    /// It must be one that DuckDB wrote and still holds.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: both forms begin with the length, which determines the form.
        unsafe {
            let length = self.inlined.length as usize;
            match self.inlined.bytes.get(..length) {
                Some(bytes) => bytes,
                None => std::slice::from_raw_parts(self.pointer.bytes, length),
            }
        }
    }
}

functions! {
    /// The functions, named without `duckdb_`.
    pub struct Api of "duckdb_";

    library_version() -> *const c_char;
    config_count() -> usize;
    get_config_flag(index: usize, name: *mut *const c_char, about: *mut *const c_char) -> State;
    free(pointer: *mut c_void);
    vector_size() -> u64;

    create_config(config: *mut Handle) -> State;
    set_config(config: Handle, name: *const c_char, value: *const c_char) -> State;
    destroy_config(config: *mut Handle);
    open_ext(
        path: *const c_char, database: *mut Handle, config: Handle, error: *mut *mut c_char
    ) -> State;
    close(database: *mut Handle);
    connect(database: Handle, connection: *mut Handle) -> State;
    disconnect(connection: *mut Handle);
    query(connection: Handle, sql: *const c_char, result: *mut RawResult) -> State;

    prepare(connection: Handle, sql: *const c_char, statement: *mut Handle) -> State;
    prepare_error(statement: Handle) -> *const c_char;
    destroy_prepare(statement: *mut Handle);
    nparams(statement: Handle) -> u64;
    prepared_statement_type(statement: Handle) -> u32;
    param_type(statement: Handle, place: u64) -> TypeId;
    bind_null(statement: Handle, place: u64) -> State;
    bind_int32(statement: Handle, place: u64, value: i32) -> State;
    bind_int64(statement: Handle, place: u64, value: i64) -> State;
    bind_double(statement: Handle, place: u64, value: f64) -> State;
    bind_varchar_length(statement: Handle, place: u64, text: *const c_char, length: u64) -> State;
    bind_blob(statement: Handle, place: u64, bytes: *const c_void, length: u64) -> State;
    bind_value(statement: Handle, place: u64, value: Handle) -> State;
    execute_prepared(statement: Handle, result: *mut RawResult) -> State;

    create_null_value() -> Handle;
    create_list_value(of: Handle, values: *mut Handle, count: u64) -> Handle;
    get_list_child(list: Handle, index: u64) -> Handle;
    destroy_value(value: *mut Handle);

    result_error(result: *mut RawResult) -> *const c_char;
    rows_changed(result: *mut RawResult) -> u64;
    column_count(result: *mut RawResult) -> u64;
    column_type(result: *mut RawResult, column: u64) -> TypeId;
    column_logical_type(result: *mut RawResult, column: u64) -> Handle;
    pending_prepared_streaming(statement: Handle, pending: *mut Handle) -> State;
    execute_pending(pending: Handle, result: *mut RawResult) -> State;
    pending_error(pending: Handle) -> *const c_char;
    destroy_pending(pending: *mut Handle);
    column_name(result: *mut RawResult, column: u64) -> *const c_char;
    fetch_chunk(result: RawResult) -> Handle;
    destroy_result(result: *mut RawResult);

    create_logical_type(of: TypeId) -> Handle;
    decimal_scale(of: Handle) -> u8;
    decimal_internal_type(of: Handle) -> TypeId;
    destroy_logical_type(of: *mut Handle);

    create_data_chunk(types: *mut Handle, columns: u64) -> Handle;
    data_chunk_reset(chunk: Handle);
    data_chunk_get_size(chunk: Handle) -> u64;
    data_chunk_set_size(chunk: Handle, size: u64);
    data_chunk_get_vector(chunk: Handle, column: u64) -> Handle;
    destroy_data_chunk(chunk: *mut Handle);
    vector_get_data(vector: Handle) -> *mut c_void;
    vector_get_validity(vector: Handle) -> *mut u64;
    vector_ensure_validity_writable(vector: Handle);
    vector_assign_string_element_len(vector: Handle, row: u64, text: *const c_char, length: u64);

    appender_create(
        connection: Handle, schema: *const c_char, table: *const c_char, appender: *mut Handle
    ) -> State;
    appender_error(appender: Handle) -> *const c_char;
    append_data_chunk(appender: Handle, chunk: Handle) -> State;
    appender_close(appender: Handle) -> State;
    appender_destroy(appender: *mut Handle) -> State;
}
