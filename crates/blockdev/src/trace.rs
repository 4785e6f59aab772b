//! Trace of the requests that reached a device: time, offset and length, but not the content.

/// Largest number of accesses in a trace: 24 bytes each, 400 MB.
const MAX_ACCESSES: usize = 1 << 24;

/// Number of accesses per chunk, so that a growing trace is never copied.
const CHUNK: usize = 1 << 14;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A read. A trace has none.
    Read,
    /// A write.
    Write,
    /// A discard: the content is no longer needed.
    Discard,
    /// A flush: what was written before has to be durable.
    Flush,
}

/// A request that reached a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Time in ns of the monotonic clock (`CLOCK_MONOTONIC`), which all processes share.
    pub ns: u64,
    /// Kind.
    pub kind: RequestKind,
    /// Offset on the device in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// An access in 24 bytes. The kind is in the two lowest bits of the last word.
#[derive(Clone, Copy, Debug)]
struct PackedAccess {
    ns: u64,
    offset: u64,
    length_and_kind: u64,
}

impl From<Access> for PackedAccess {
    fn from(Access { ns, kind, offset, length }: Access) -> Self {
        Self { ns, offset, length_and_kind: length << 2 | kind as u64 }
    }
}

impl From<PackedAccess> for Access {
    fn from(PackedAccess { ns, offset, length_and_kind }: PackedAccess) -> Self {
        let kind = match length_and_kind & 3 {
            0 => RequestKind::Read,
            1 => RequestKind::Write,
            2 => RequestKind::Discard,
            _ => RequestKind::Flush,
        };
        Self { ns, kind, offset, length: length_and_kind >> 2 }
    }
}

/// Accesses to a device, in order.
#[derive(Debug, Default)]
pub struct Trace {
    chunks: Vec<Vec<PackedAccess>>,
    /// Size of the device in bytes.
    pub device_bytes: u64,
    /// Number of accesses that were left out because the trace is full.
    pub left_out: u64,
}

impl Trace {
    /// Makes an empty trace of a device of this size in bytes.
    pub fn new(device_bytes: u64) -> Self {
        Self { device_bytes, ..Self::default() }
    }

    /// Returns the accesses.
    pub fn iter(&self) -> impl Iterator<Item = Access> + Clone {
        self.chunks.iter().flatten().map(|packed| Access::from(*packed))
    }

    /// Returns the number of accesses that are kept.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Whether nothing has reached the device.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds an access.
    pub(crate) fn add(&mut self, access: Access) {
        if self.chunks.len() * CHUNK >= MAX_ACCESSES + CHUNK || self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.push(access.into()),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(access.into());
                self.chunks.push(chunk);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_come_back_as_they_were() {
        let mut trace = Trace::default();
        let kinds = [RequestKind::Write, RequestKind::Discard, RequestKind::Flush];
        let all = (0..100_000_u64).map(|ns| {
            let kind = kinds[(ns % 3) as usize];
            let length = if kind == RequestKind::Flush { 0 } else { ns << 9 };
            Access { ns, kind, offset: ns << 12, length }
        });
        all.clone().for_each(|access| trace.add(access));
        assert!(trace.iter().eq(all));
        assert_eq!((trace.len(), trace.left_out), (100_000, 0));
        assert_eq!(size_of::<PackedAccess>(), 24);
    }

    #[test]
    fn a_trace_is_bounded_and_says_what_it_lacks() {
        let mut trace = Trace::default();
        let flush = Access { ns: 1, kind: RequestKind::Flush, offset: 0, length: 0 };
        (0..MAX_ACCESSES + CHUNK + 5).for_each(|_| trace.add(flush));
        assert!(trace.len() >= MAX_ACCESSES && trace.len() <= MAX_ACCESSES + CHUNK);
        assert_eq!(trace.len() + trace.left_out as usize, MAX_ACCESSES + CHUNK + 5);
        assert!(trace.left_out > 0);
    }
}
