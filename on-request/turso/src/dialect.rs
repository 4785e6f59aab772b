//! How Turso writes what SQL leaves open: as SQLite does. A table has no `WITHOUT ROWID`, which is an experiment of
//! it that has to be switched on.

use std::ffi::{CStr, c_char};
use std::mem::size_of;
use std::ptr;

use embermark_abi as abi;

const NONE: *const c_char = ptr::null();
const INTEGER: &CStr = c"INTEGER";
const FIELD: &CStr = c"{1} ->> '$.{2}'";

pub(crate) static DIALECT: abi::Dialect = abi::Dialect {
    size: size_of::<abi::Dialect>() as u32,
    // A comparison of rows it answers by a scan; written out it finds the range of its first column (EXPLAIN QUERY PLAN).
    has: abi::WINDOWS | abi::DERIVED_TABLES | abi::GROUP_BY_EXPRESSION | abi::SEEKS_BY_KEY,
    placeholder: c"?{1}".as_ptr(),
    type_int: INTEGER.as_ptr(),
    type_big: INTEGER.as_ptr(),
    type_double: c"REAL".as_ptr(),
    type_text: NONE,
    type_bytes: NONE,
    unsigned_16: NONE,
    unsigned_32: NONE,
    indexed_text: NONE,
    indexed_bytes: NONE,
    long_text: NONE,
    sized_text: NONE,
    sized_bytes: NONE,
    longest: 0,
    json: c"TEXT".as_ptr(),
    binary_json: c"BLOB".as_ptr(),
    binary_json_of: c"jsonb({1})".as_ptr(),
    json_number: FIELD.as_ptr(),
    json_text: FIELD.as_ptr(),
    month: c"CAST(strftime('%Y%m', {1} / 1000, 'unixepoch') AS INTEGER)".as_ptr(),
    name: NONE,
    not_null: NONE,
    create_table: NONE,
    table_options: None,
    drop_table: NONE,
    index_names: c"SELECT name FROM pragma_index_list('{1}')".as_ptr(),
    integer_division: NONE,
    remainder: NONE,
    mean: NONE,
    limit: NONE,
    value: NONE,
    sample_deviation: c"stddev({1})".as_ptr(),
    correlation: NONE,
};
