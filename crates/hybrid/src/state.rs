//! State of the open mirror.

/// State that only one client at a time may use.
#[derive(Default)]
pub(crate) struct State {
    /// Number of the last mirror.
    pub generation: u64,
    /// Largest key that may be in the mirror, by the table's number. Unknown without one.
    pub highest: Vec<Option<Vec<u8>>>,
    /// Number of rows changed since the mirror's file was written.
    pub unwritten: u64,
    /// A bit for each table whose view includes invalid rows of chunks.
    pub overlaid: u64,
}

/// What a mirror reports about itself when it is opened.
pub(crate) struct Fit {
    /// The newest record whose changes are in it.
    pub applied: u64,
    /// The largest key of each table.
    pub highest: Vec<Option<Vec<u8>>>,
}
