//! Names of tables and columns.

use std::ops::Range;

use crate::mistakes::Log;

/// Says so where a name of a table or column is none that every engine takes without quotes.
/// `rename` says how to have another.
pub fn check(log: &Log, at: Range<usize>, kind: &str, name: &str, rename: &str) -> Option<()> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if name.is_empty() || !letters || name.as_bytes()[0].is_ascii_digit() {
        return log.mistake(
            at,
            format!("'{name}' cannot be the name of a {kind}"),
            "letters, digits and underscores, no digit first",
            rename,
        );
    }
    Some(())
}
