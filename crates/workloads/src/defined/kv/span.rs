//! Keys that stand together: those that begin alike, told from others by two loads.

use super::super::codec::Codec;

/// Keys of fixed length whose first columns are the same, and of which then, perhaps, 8 bytes lie in a bucket.
pub(super) struct Span {
    /// Which of the first 8 bytes are those of the first columns, and what they are.
    mask: u64,
    begin: u64,
    /// Where the 8 bytes of buckets lie, from which on they are of this one, and how much more they are at most.
    /// Without buckets all are.
    at: usize,
    from: u64,
    most: u64,
}

/// The first bytes of no key: 7 of them are compared at most.
const NO_KEY: u64 = 1;

/// 8 bytes of a key: as numbers they compare as they do.
#[inline]
pub(super) fn load(key: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(at..)?.first_chunk()?))
}

impl Span {
    /// With so many first columns, and buckets of the next where there are such; it has no key yet. `None` where the columns have
    /// more than 7 bytes, or the next has not 8.
    pub(super) fn of(codec: &Codec, columns: usize, buckets: bool) -> Option<Self> {
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

    /// Whether a key is one of them.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        let (Some(begin), Some(word)) = (load(key, 0), load(key, self.at)) else { return false };
        begin & self.mask == self.begin && word.wrapping_sub(self.from) <= self.most
    }

    /// Goes to those that begin as a key does, in a bucket from its 8 bytes on, of so many values; without a key to
    /// all.
    pub(super) fn go_to(&mut self, key: &[u8], bucket: Option<(u64, u64)>) {
        self.begin = load(key, 0).map_or(0, |begin| begin & self.mask);
        (self.from, self.most) =
            bucket.map_or((0, u64::MAX), |(from, values)| (from, values.max(1) - 1));
    }
}
