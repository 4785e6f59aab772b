//! Requests that reach a block device.

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes are written.
    Write,
    /// A range is discarded.
    Discard,
    /// Everything written before must be durable.
    Flush,
}

/// A request that reaches a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in ns, on the same clock as windows.
    pub ns: u64,
    /// Kind of the request.
    pub kind: Kind,
    /// Offset on the device in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}
