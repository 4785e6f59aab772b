//! Names of a table in a store without tables.

/// A table: its name, the prefix of its rows' keys, and the set of its keys.
pub(super) struct Names {
    pub name: String,
    pub rows: Vec<u8>,
    pub keys: Vec<u8>,
}
