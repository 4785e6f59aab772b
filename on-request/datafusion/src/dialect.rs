//! How DataFusion writes what SQL leaves open.

use std::ffi::c_char;
use std::mem::size_of;
use std::ptr;

use embermark_abi as abi;

const NONE: *const c_char = ptr::null();

pub(crate) static DIALECT: abi::Dialect = abi::Dialect {
    size: size_of::<abi::Dialect>() as u32,
    // A comparison of rows is written out, so that the least and greatest value of a row group decide on it.
    has: abi::WINDOWS | abi::DERIVED_TABLES | abi::GROUP_BY_EXPRESSION,
    placeholder: c"${1}".as_ptr(),
    type_int: NONE,
    type_big: NONE,
    type_double: NONE,
    type_text: NONE,
    type_bytes: c"BYTEA".as_ptr(),
    unsigned_16: NONE,
    unsigned_32: NONE,
    indexed_text: NONE,
    indexed_bytes: NONE,
    long_text: NONE,
    sized_text: NONE,
    sized_bytes: NONE,
    longest: 0,
    // Its functions for JSON are in a crate of others.
    json: NONE,
    binary_json: NONE,
    binary_json_of: NONE,
    json_number: NONE,
    json_text: NONE,
    month: c"(date_part('year', to_timestamp_millis({1})) * 100 + date_part('month', to_timestamp_millis({1})))"
        .as_ptr(),
    // Without quotes it reads a name in small letters.
    name: c"\"{1}\"".as_ptr(),
    not_null: NONE,
    create_table: NONE,
    table_options: None,
    drop_table: NONE,
    index_names: NONE,
    integer_division: NONE,
    remainder: NONE,
    mean: NONE,
    limit: NONE,
    value: NONE,
    sample_deviation: c"stddev({1})".as_ptr(),
    correlation: c"corr({1}, {2})".as_ptr(),
};
