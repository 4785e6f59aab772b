//! Adjacent keys with the same prefix, distinguished from others by two loads.

use super::super::codec::Codec;

/// Keys of fixed length whose first columns are equal, and, optionally, whose next 8 bytes are in a
/// bucket.
pub(super) struct Span {
    /// Mask of the bytes of the first columns within the first 8, and their value.
    mask: u64,
    begin: u64,
    /// Offset of the 8 bytes of buckets, the first value of the bucket, and the largest difference
    /// from it. Without buckets every value is included.
    at: usize,
    from: u64,
    most: u64,
}

/// First bytes that no key has, because at most 7 are compared.
const NO_KEY: u64 = 1;

/// Returns 8 bytes of a key as a number that compares as they do.
#[inline]
pub(super) fn load(key: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(at..)?.first_chunk()?))
}

impl Span {
    /// Creates a span of this many first columns, with buckets of the next column or without. It
    /// has no key yet. Returns `None` where the first columns have more than 7 bytes, or the next
    /// does not have 8.
    pub(super) fn new(codec: &Codec, columns: usize, buckets: bool) -> Option<Self> {
        let key = vec![0; codec.key_length().filter(|length| *length >= 8)?];
        let begin = codec.prefix(&key, columns);
        if begin >= 8 || (buckets && codec.prefix(&key, columns + 1) != begin + 8) {
            return None;
        }
        let mask = if begin == 0 { 0 } else { u64::MAX << (64 - 8 * begin) };
        Some(Self {
            mask,
            begin: NO_KEY,
            at: if buckets { begin } else { 0 },
            from: 0,
            most: u64::MAX,
        })
    }

    /// Returns whether a key is in the span.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        let (Some(begin), Some(word)) = (load(key, 0), load(key, self.at)) else { return false };
        begin & self.mask == self.begin && word.wrapping_sub(self.from) <= self.most
    }

    /// Moves to the keys with the prefix of `key`, in a bucket given by its first value and its
    /// length. Without a key it moves to all.
    pub(super) fn go_to(&mut self, key: &[u8], bucket: Option<(u64, u64)>) {
        self.begin = load(key, 0).map_or(0, |begin| begin & self.mask);
        (self.from, self.most) =
            bucket.map_or((0, u64::MAX), |(from, values)| (from, values.max(1) - 1));
    }
}
