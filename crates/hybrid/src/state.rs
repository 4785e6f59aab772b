//! State of the open mirror.

/// State that only one client at a time may use.
#[derive(Default)]
pub(crate) struct State {
    /// Number of the latest mirror.
    pub generation: u64,
    /// Largest key that may be in the mirror, by the table's number. `None` if unknown.
    pub highest: Vec<Option<Vec<u8>>>,
    /// Number of rows changed since the mirror's file was written.
    pub unwritten: u64,
    /// Bit mask of the tables whose view filters out invalid rows of chunks.
    pub overlaid: u64,
}

/// State that a closed mirror has stored about itself.
pub(crate) struct StoredState {
    /// Number of the last change record whose changes are in it.
    pub applied: u64,
    /// Largest key of each table.
    pub highest: Vec<Option<Vec<u8>>>,
}
