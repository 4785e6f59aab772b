//! Turso's SQL where the standard leaves a choice, which is that of SQLite. Tables have no `WITHOUT
//! ROWID`, because it is experimental in Turso and off by default.

use std::ffi::CStr;

use embermark_abi as abi;

const INTEGER: &CStr = c"INTEGER";
const FIELD: &CStr = c"{1} ->> '$.{2}'";

pub(crate) static DIALECT: abi::Dialect = abi::Dialect {
    // Turso answers a comparison of rows with a scan. Written out, it finds the range of its first
    // column (EXPLAIN QUERY PLAN).
    has: abi::WINDOWS | abi::DERIVED_TABLES | abi::SEEKS_BY_KEY,
    placeholder: c"?{1}".as_ptr(),
    type_int: INTEGER.as_ptr(),
    type_big: INTEGER.as_ptr(),
    type_double: c"REAL".as_ptr(),
    json: c"TEXT".as_ptr(),
    binary_json: c"BLOB".as_ptr(),
    binary_json_of: c"jsonb({1})".as_ptr(),
    json_number: FIELD.as_ptr(),
    json_text: FIELD.as_ptr(),
    month: c"CAST(strftime('%Y%m', {1} / 1000, 'unixepoch') AS INTEGER)".as_ptr(),
    index_names: c"SELECT name FROM pragma_index_list('{1}')".as_ptr(),
    sample_deviation: c"stddev({1})".as_ptr(),
    ..abi::Dialect::STANDARD
};
