//! Names of tables and columns.

use crate::node::Node;
use crate::reserved::is_reserved;

/// Largest length of a name, which PostgreSQL sets.
const LONGEST: usize = 63;

/// Adds a mistake if a name of a table or column is not accepted by every engine without quotes.
/// `rename` says how to use another one.
pub fn check(node: &Node<'_>, table: bool, name: &str, rename: &str) -> Option<()> {
    let kind = if table { "table" } else { "column" };
    let form = format!("letters, digits and underscores, no digit first, at most {LONGEST}");
    let why = match name {
        _ if !is_plain(name) => &*form,
        _ if is_reserved(name, table) => "a reserved word of SQL or InfluxQL",
        "_id" => "MongoDB has its own column of this name",
        _ => return Some(()),
    };
    node.labelled(format!("'{name}' cannot be the name of a {kind}"), why, rename)
}

/// Whether it has the form of a name.
pub fn is_plain(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let first = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    letters && first && name.len() <= LONGEST
}

/// Whether a name of a phase or a variant has only letters, digits, dashes and underscores.
pub fn is_dashed(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
