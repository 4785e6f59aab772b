//! The functions of MariaDB Connector/C that are used, as its headers `mysql.h`, `mariadb_com.h`,
//! and `mariadb_stmt.h` of version 3 declare them:
//! <https://github.com/mariadb-corporation/mariadb-connector-c/tree/3.3/include>.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_ulonglong, c_void};

use crate::library::functions;

/// A `MYSQL`, `MYSQL_STMT`, or `MYSQL_RES`: pointers to the library's objects.
pub(super) type Raw = *mut c_void;

/// A `my_bool`: 0, or true.
pub(super) type Flag = c_char;

functions! {
    /// The functions, without the `mysql_` of their names.
    pub(super) struct Api of "mysql_";

    server_init(count: c_int, arguments: *mut *mut c_char, groups: *mut *mut c_char) -> c_int;
    get_client_info() -> *const c_char;

    init(connection: Raw) -> Raw;
    options(connection: Raw, option: c_uint, value: *const c_void) -> c_int;
    real_connect(
        connection: Raw, host: *const c_char, user: *const c_char, password: *const c_char,
        database: *const c_char, port: c_uint, socket: *const c_char, flags: c_ulong
    ) -> Raw;
    close(connection: Raw);
    errno(connection: Raw) -> c_uint;
    sqlstate(connection: Raw) -> *const c_char;
    error(connection: Raw) -> *const c_char;

    real_query(connection: Raw, sql: *const c_char, bytes: c_ulong) -> c_int;
    field_count(connection: Raw) -> c_uint;
    store_result(connection: Raw) -> Raw;
    next_result(connection: Raw) -> c_int;
    affected_rows(connection: Raw) -> c_ulonglong;
    num_fields(result: Raw) -> c_uint;
    fetch_row(result: Raw) -> *mut *mut c_char;
    fetch_lengths(result: Raw) -> *mut c_ulong;
    free_result(result: Raw);

    stmt_init(connection: Raw) -> Raw;
    stmt_prepare(statement: Raw, sql: *const c_char, bytes: c_ulong) -> c_int;
    stmt_param_count(statement: Raw) -> c_ulong;
    stmt_attr_set(statement: Raw, attribute: c_uint, value: *const c_void) -> Flag;
    stmt_bind_param(statement: Raw, binds: *mut Bind) -> Flag;
    stmt_bind_result(statement: Raw, binds: *mut Bind) -> Flag;
    stmt_execute(statement: Raw) -> c_int;
    stmt_field_count(statement: Raw) -> c_uint;
    stmt_affected_rows(statement: Raw) -> c_ulonglong;
    stmt_fetch(statement: Raw) -> c_int;
    stmt_fetch_column(statement: Raw, bind: *mut Bind, column: c_uint, from: c_ulong) -> c_int;
    stmt_more_results(statement: Raw) -> Flag;
    stmt_next_result(statement: Raw) -> c_int;
    stmt_free_result(statement: Raw) -> Flag;
    stmt_close(statement: Raw) -> Flag;
    stmt_errno(statement: Raw) -> c_uint;
    stmt_sqlstate(statement: Raw) -> *const c_char;
    stmt_error(statement: Raw) -> *const c_char;
}

functions! {
    /// MariaDB's own functions, without the `mariadb_` of their names.
    pub(super) struct MariaDbApi of "mariadb_";

    stmt_fetch_fields(statement: Raw) -> *const Field;
}

/// A `MYSQL_BIND`: the location of the value of a parameter or of a column.
#[repr(C)]
#[derive(Default)]
pub(super) struct Bind {
    /// Length of the value, in bytes.
    pub length: *mut c_ulong,
    pub is_null: *mut Flag,
    pub buffer: *mut c_void,
    /// Whether the value was truncated. Null if it is not wanted.
    pub error: *mut Flag,
    /// For bulk execution: one of [`indicator`] per row. For a result it belongs to the library.
    pub indicator: *mut c_char,
    store: *mut c_void,
    fetch: *mut c_void,
    skip: *mut c_void,
    /// Length of the buffer, in bytes.
    pub buffer_length: c_ulong,
    offset: c_ulong,
    length_value: c_ulong,
    flags: c_uint,
    pack_length: c_uint,
    /// One of [`types`].
    pub buffer_type: c_uint,
    error_value: Flag,
    pub is_unsigned: Flag,
    long_data_used: Flag,
    is_null_value: Flag,
    extension: *mut c_void,
}

impl Bind {
    /// Creates a bind to the caller's memory, which has values of a type of [`types`].
    pub fn new(buffer_type: c_uint, buffer: *mut c_void) -> Self {
        Self { buffer_type, buffer, ..Self::default() }
    }
}

/// A `MYSQL_FIELD`: the description of a column.
#[repr(C)]
pub(super) struct Field {
    pub name: *const c_char,
    original_name: *const c_char,
    table: *const c_char,
    original_table: *const c_char,
    database: *const c_char,
    catalog: *const c_char,
    default: *const c_char,
    /// Its width, in bytes.
    pub length: c_ulong,
    max_length: c_ulong,
    pub name_length: c_uint,
    lengths_of_names: [c_uint; 6],
    pub flags: c_uint,
    decimals: c_uint,
    pub character_set: c_uint,
    /// One of [`types`].
    pub field_type: c_uint,
    extension: *const c_void,
}

/// Flag of a field: its integers are unsigned.
pub(super) const UNSIGNED: c_uint = 32;

/// Results of a fetch other than 0.
pub(super) const NO_DATA: c_int = 100;
pub(super) const DATA_TRUNCATED: c_int = 101;

/// Flags of a connection.
pub(super) const FOUND_ROWS: c_ulong = 1 << 1;
pub(super) const MULTI_STATEMENTS: c_ulong = 1 << 16;

/// `STMT_ATTR_ARRAY_SIZE`: the number of rows that an execution sends, an `unsigned int`.
pub(super) const ARRAY_SIZE: c_uint = 201;

/// `enum mysql_option`.
pub(super) mod option {
    pub(in super::super) const CONNECT_TIMEOUT: u32 = 0;
    pub(in super::super) const CHARACTER_SET: u32 = 7;
    pub(in super::super) const LOCAL_INFILE: u32 = 8;
    pub(in super::super) const PROTOCOL: u32 = 9;
    pub(in super::super) const RECONNECT: u32 = 20;
    pub(in super::super) const VERIFY_CERTIFICATE: u32 = 21;
    pub(in super::super) const PLUGIN_DIR: u32 = 22;
    pub(in super::super) const RESTRICTED_AUTH: u32 = 7026;
}

/// `enum enum_indicator_type`.
pub(super) mod indicator {
    use std::ffi::c_char;

    pub(in super::super) const NONE: c_char = 0;
    pub(in super::super) const NULL: c_char = 1;
}

/// `enum enum_field_types`: those that are distinguished here.
pub(super) mod types {
    pub(in super::super) const DECIMAL: u32 = 0;
    pub(in super::super) const TINY: u32 = 1;
    pub(in super::super) const SHORT: u32 = 2;
    pub(in super::super) const LONG: u32 = 3;
    pub(in super::super) const FLOAT: u32 = 4;
    pub(in super::super) const DOUBLE: u32 = 5;
    pub(in super::super) const TIMESTAMP: u32 = 7;
    pub(in super::super) const LONGLONG: u32 = 8;
    pub(in super::super) const INT24: u32 = 9;
    pub(in super::super) const DATE: u32 = 10;
    pub(in super::super) const TIME: u32 = 11;
    pub(in super::super) const DATETIME: u32 = 12;
    pub(in super::super) const YEAR: u32 = 13;
    pub(in super::super) const NEWDECIMAL: u32 = 246;
    pub(in super::super) const BLOB: u32 = 252;
    pub(in super::super) const STRING: u32 = 254;
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn structures_lie_as_the_headers_declare_them() {
        assert_eq!(size_of::<Bind>(), 112);
        assert_eq!(offset_of!(Bind, indicator), 32);
        assert_eq!(offset_of!(Bind, buffer_length), 64);
        assert_eq!(offset_of!(Bind, buffer_type), 96);
        assert_eq!(offset_of!(Bind, is_unsigned), 101);
        assert_eq!(offset_of!(Bind, extension), 104);
        assert_eq!(size_of::<Field>(), 128);
        assert_eq!(offset_of!(Field, length), 56);
        assert_eq!(offset_of!(Field, name_length), 72);
        assert_eq!(offset_of!(Field, flags), 100);
        assert_eq!(offset_of!(Field, field_type), 112);
    }
}
