//! How much of something a database holds.

/// What an engine states that it holds at most; nothing where it states no limit, or one that no table
/// of a workload reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tables of a database, and indexes where each is a table to the engine.
    pub tables: Option<usize>,
    /// Columns of a table.
    pub columns: Option<usize>,
    /// Indexes of a table, without that of its key.
    pub indexes: Option<usize>,
    /// Columns of a key or of an index.
    pub key_columns: Option<usize>,
    /// Bytes of a key of a key-value store, those of an index among them.
    pub key_bytes: Option<usize>,
    /// Bytes of the numbers of a row, and a bit for each column that may be absent.
    pub row_bytes: Option<usize>,
    /// Whether every column has such a bit.
    pub marks_every_column: bool,
    /// Bytes of a text in the key of a table that is no key-value store's: characters where
    /// `in_characters`. Where an engine must be told how long such texts are, that is what it is told.
    pub key_text: Option<usize>,
    /// The same of a text in an index.
    pub index_text: Option<usize>,
    /// Whether the two count characters.
    pub in_characters: bool,
    /// What no table's name begins with, in lower case.
    pub reserved_prefix: Option<&'static str>,
    /// The page of the manual that says so.
    pub manual: &'static str,
}
