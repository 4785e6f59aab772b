//! What is known of the mirror that is open.

/// What only one client at a time may look at.
#[derive(Default)]
pub(crate) struct State {
    /// The number of the last mirror.
    pub generation: u64,
    /// The largest key that may be in the mirror, by the table's number; without one nothing is known.
    pub highest: Vec<Option<Vec<u8>>>,
    /// Rows changed since the mirror's file was written.
    pub unwritten: u64,
    /// A bit for each table whose view knows of rows of chunks that are invalid.
    pub overlaid: u64,
}

/// What a mirror says of itself when it is opened.
pub(crate) struct Fit {
    /// The newest record whose changes are in it.
    pub applied: u64,
    /// The largest key of each table.
    pub highest: Vec<Option<Vec<u8>>>,
}
