//! Many pairs in one buffer: Berkeley DB's `DB_MULTIPLE_KEY` format.
//!
//! Bytes grow from the front; from the back, downwards, each pair has four words: offset and
//! length of the key, offset and length of the value. A word of all ones ends the list. (db.h
//! gives the format as macros, `DB_MULTIPLE_KEY_NEXT` and `DB_MULTIPLE_KEY_WRITE_NEXT`, which are
//! compiled into every program that uses them, so it cannot change under a built program.)

const END: u32 = u32::MAX;
const WORD: usize = size_of::<u32>();

/// A buffer in that format, aligned as the library wants it.
pub(super) struct Batch {
    words: Vec<u32>,
    /// Bytes written at the front.
    bytes: usize,
    /// Pairs written.
    pairs: usize,
}

impl Batch {
    /// A buffer of no size.
    pub(super) const fn new() -> Self {
        Self { words: Vec::new(), bytes: 0, pairs: 0 }
    }

    /// Makes it at least `bytes` large, in steps of the 1,024 the library asks for, and empty.
    pub(super) fn reset(&mut self, bytes: usize) {
        let words = bytes.next_multiple_of(1024) / WORD;
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        if let Some(last) = self.words.last_mut() {
            *last = END;
        }
        (self.bytes, self.pairs) = (0, 0);
    }

    /// Its size in bytes, and where it begins.
    pub(super) fn raw(&mut self) -> (*mut std::ffi::c_void, usize) {
        (self.words.as_mut_ptr().cast(), self.words.len() * WORD)
    }

    /// Adds a pair; false if it does not fit.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        let used = self.bytes + key.len() + value.len();
        let list = (4 * (self.pairs + 1) + 1) * WORD;
        if used + list > self.words.len() * WORD {
            return false;
        }
        let (at, bytes) = (self.bytes, self.front_mut());
        bytes[at..at + key.len()].copy_from_slice(key);
        bytes[at + key.len()..used].copy_from_slice(value);
        // The sizes fit: they are below the buffer's, whose size the library takes as a u32.
        let four = [at, key.len(), at + key.len(), value.len()].map(|n| n as u32);
        let top = self.words.len() - 4 * self.pairs;
        for (i, word) in four.into_iter().enumerate() {
            self.words[top - 1 - i] = word;
        }
        self.words[top - 5] = END;
        self.bytes = used;
        self.pairs += 1;
        true
    }

    /// Whether nothing was pushed since the last reset.
    pub(super) const fn is_empty(&self) -> bool {
        self.pairs == 0
    }

    /// The pairs that the library wrote into the first `bytes` of the buffer.
    pub(super) fn pairs(&self, bytes: usize) -> PairsIn<'_> {
        let list = &self.words[..bytes / WORD];
        PairsIn { bytes: as_bytes(list), list }
    }

    fn front_mut(&mut self) -> &mut [u8] {
        let bytes = self.words.len() * WORD;
        // SAFETY: the same memory and length as the vector's, and a u8 has no alignment or
        // invalid values; `self` stays borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), bytes) }
    }
}

fn as_bytes(words: &[u32]) -> &[u8] {
    // SAFETY: the same memory and length, and a u8 has no alignment or invalid values.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// Iterates over the pairs of a [`Batch`].
pub(super) struct PairsIn<'a> {
    bytes: &'a [u8],
    /// The words not yet read, from the back.
    list: &'a [u32],
}

impl<'a> Iterator for PairsIn<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&key_at, rest) = self.list.split_last()?;
        if key_at == END {
            return None;
        }
        let [rest @ .., value_size, value_at, key_size] = rest else { return None };
        self.list = rest;
        let slice = |at: u32, size: u32| self.bytes.get(at as usize..)?.get(..size as usize);
        Some((slice(key_at, *key_size)?, slice(*value_at, *value_size)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_read_back_until_the_buffer_is_full() {
        let mut batch = Batch::new();
        batch.reset(1024);
        let pair = |i: u8| (vec![i; usize::from(i) % 3], vec![!i; usize::from(i) % 7]);
        let pushed = (0..=255).take_while(|&i| batch.push(&pair(i).0, &pair(i).1)).count();
        assert!(pushed > 40 && pushed < 64, "{pushed} of 20 bytes and more in 1,024");
        let read: Vec<_> = batch.pairs(1024).map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        assert_eq!(read, (0..pushed as u8).map(pair).collect::<Vec<_>>());
        batch.reset(1024);
        assert!(batch.is_empty() && batch.pairs(1024).next().is_none());
        assert!(!batch.push(&[0; 1024], &[]), "a pair larger than the buffer");
    }
}
