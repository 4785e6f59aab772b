//! Names of tables and columns.

use std::ops::Range;

use crate::mistakes::Log;
use crate::reserved::is_reserved;

/// Largest length of a name, which PostgreSQL sets.
const LONGEST: usize = 63;

/// Adds a mistake if a name of a table or column is not accepted by every engine without quotes.
/// `rename` says how to use another one.
pub fn check(log: &Log, at: Range<usize>, table: bool, name: &str, rename: &str) -> Option<()> {
    let kind = if table { "table" } else { "column" };
    if !is_plain(name) {
        return log.mistake(
            at,
            format!("'{name}' cannot be the name of a {kind}"),
            format!("letters, digits and underscores, no digit first, at most {LONGEST}"),
            rename,
        );
    }
    if is_reserved(name, table) {
        return log.mistake(
            at,
            format!("'{name}' cannot be the name of a {kind}"),
            "a reserved word of SQL or InfluxQL",
            rename,
        );
    }
    if name == "_id" {
        let label = "MongoDB has its own column of this name";
        return log.mistake(at, format!("'{name}' cannot be the name of a {kind}"), label, rename);
    }
    Some(())
}

/// Whether it has the form of a name.
pub fn is_plain(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let first = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    letters && first && name.len() <= LONGEST
}
