//! DataFusion's SQL where the standard leaves a choice. It has no JSON functions, which are in a
//! third-party crate.

use embermark_abi as abi;

pub(crate) static DIALECT: abi::Dialect = abi::Dialect {
    // Comparisons of rows are written out, so that the minimum and maximum of a row group can skip
    // it.
    has: abi::WINDOWS | abi::DERIVED_TABLES,
    placeholder: c"${1}".as_ptr(),
    type_bytes: c"BYTEA".as_ptr(),
    month: c"(date_part('year', to_timestamp_millis({1})) * 100 + date_part('month', to_timestamp_millis({1})))"
        .as_ptr(),
    // It reads an unquoted name as lower case.
    name: c"\"{1}\"".as_ptr(),
    sample_deviation: c"stddev({1})".as_ptr(),
    correlation: c"corr({1}, {2})".as_ptr(),
    ..abi::Dialect::STANDARD
};
