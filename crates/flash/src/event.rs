//! What reaches a block device.

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes are written.
    Write,
    /// Bytes are given up.
    Discard,
    /// Everything written before is to be kept.
    Flush,
}

/// One thing that reaches a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in ns of whichever clock windows are in.
    pub ns: u64,
    /// What.
    pub kind: Kind,
    /// Where, in bytes from the device's begin.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}
