//! What a table is called in a store without tables.

/// A table: its name, what the keys of its rows begin with, and the set of its keys.
pub(super) struct Names {
    pub name: String,
    pub rows: Vec<u8>,
    pub keys: Vec<u8>,
}
