//! How DataFusion writes what SQL leaves open. It has no functions for JSON, which are in a crate of others.

use embermark_abi as abi;

pub(crate) static DIALECT: abi::Dialect = abi::Dialect {
    // A comparison of rows is written out, so that the least and greatest value of a row group decide on it.
    has: abi::WINDOWS | abi::DERIVED_TABLES | abi::GROUP_BY_EXPRESSION,
    placeholder: c"${1}".as_ptr(),
    type_bytes: c"BYTEA".as_ptr(),
    month: c"(date_part('year', to_timestamp_millis({1})) * 100 + date_part('month', to_timestamp_millis({1})))"
        .as_ptr(),
    // Without quotes it reads a name in small letters.
    name: c"\"{1}\"".as_ptr(),
    sample_deviation: c"stddev({1})".as_ptr(),
    correlation: c"corr({1}, {2})".as_ptr(),
    ..abi::Dialect::STANDARD
};
