//! Options of DuckDB's readers, by DuckDB's names.

use std::path::PathBuf;

use embermark_model::table::Literal;

use crate::DataError;

/// Options that the reader sets itself, and their equivalents.
const RESERVED: [(&str, &str); 12] = [
    ("columns", "the columns of the table"),
    ("types", "the columns of the table"),
    ("dtypes", "the columns of the table"),
    ("column_types", "the columns of the table"),
    ("all_varchar", "the columns of the table"),
    ("auto_detect", "nothing: options that you do not give are detected"),
    ("ignore_errors", "--lenient"),
    ("store_rejects", "--lenient"),
    ("rejects_table", "--lenient"),
    ("rejects_scan", "--lenient"),
    ("rejects_limit", "--lenient"),
    ("sample_size", "nothing: the columns are given"),
];
/// Options for how values are written. embermark converts such values itself.
const CONVERTED: [&str; 4] = ["decimal_separator", "thousands", "dateformat", "timestampformat"];

/// Refuses options that the reader sets itself.
pub(super) fn check_options(read: &[(String, Literal)]) -> Result<(), DataError> {
    match RESERVED.iter().find(|(name, _)| read.iter().any(|(key, _)| key == name)) {
        Some((name, instead)) => Err(DataError::ReadOption { name: (*name).to_owned(), instead }),
        None => Ok(()),
    }
}

/// Formats the options that are passed on, except for some, each after a comma.
pub(super) fn options(read: &[(String, Literal)], but: &[&str]) -> String {
    let handed =
        read.iter().filter(|(name, _)| !but.contains(&&**name) && !CONVERTED.contains(&&**name));
    handed.map(|(name, value)| format!(", {name} = {value}")).collect()
}

/// Formats paths for SQL.
pub(super) fn list(paths: &[PathBuf]) -> Literal {
    let texts = paths.iter().map(|path| Literal::Text(path.to_string_lossy().into_owned()));
    Literal::List(texts.collect())
}
