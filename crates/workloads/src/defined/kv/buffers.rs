//! Memory for pairs on their way to and from the store.

/// Memory for pairs on their way to and from the store.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    /// Key of an operation that was not laid out.
    pub(super) room: Vec<u8>,
    pub(super) to: Vec<u8>,
    /// Keys found, to delete.
    pub(super) found: Vec<Vec<u8>>,
    /// Pairs found, to change: their bytes in sequence, and where each key and each value ends.
    pub(super) pairs: Vec<u8>,
    pub(super) ends: Vec<(usize, usize)>,
}
