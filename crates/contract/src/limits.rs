//! Size limits of a database.

/// Limits that an engine documents. `None` if it documents no limit or if no workload's table
/// reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Number of tables of a database. Indexes count if each is a table to the engine.
    pub tables: Option<usize>,
    /// Number of columns of a table.
    pub columns: Option<usize>,
    /// Number of indexes of a table, without that of its key.
    pub indexes: Option<usize>,
    /// Number of columns of a key or an index.
    pub key_columns: Option<usize>,
    /// Length of a key of a key-value store in bytes, including keys of indexes.
    pub key_bytes: Option<usize>,
    /// Bytes of a row's numbers, plus one bit for each column that may be absent.
    pub row_bytes: Option<usize>,
    /// Whether every column has such a bit.
    pub marks_every_column: bool,
    /// Length of a text in a table's key, in bytes, or in characters if `in_characters`. Not for
    /// key-value stores. An engine that must know the length of such texts is given this one.
    pub key_text: Option<usize>,
    /// Length of a text in an index, in the same unit.
    pub index_text: Option<usize>,
    /// Whether `key_text` and `index_text` count characters.
    pub in_characters: bool,
    /// Prefix that no table's name may have, in lower case.
    pub reserved_prefix: Option<&'static str>,
    /// Page of the manual that documents the limits.
    pub manual: &'static str,
}
