//! Many pairs in one buffer: Berkeley DB's `DB_MULTIPLE_KEY` format.
//!
//! Bytes grow from the front. From the back, downwards, each pair has four words: offset and length
//! of the key, offset and length of the value. A word of all ones ends the list. (db.h defines the
//! format as macros, `DB_MULTIPLE_KEY_NEXT` and `DB_MULTIPLE_KEY_WRITE_NEXT`, which are compiled
//! into every program that uses them. So it cannot change for a built program.)

use std::ffi::c_void;

const END: u32 = u32::MAX;
const WORD: usize = size_of::<u32>();

/// A buffer in this format, aligned as the library requires.
pub struct Multiple {
    memory: Vec<u32>,
    /// Words of the memory that are used.
    words: usize,
    /// Bytes written at the front.
    bytes: usize,
    pairs: usize,
}

impl Multiple {
    /// Creates a buffer of size zero.
    pub const fn new() -> Self {
        Self { memory: Vec::new(), words: 0, bytes: 0, pairs: 0 }
    }

    /// Resizes it to `bytes`, in the library's steps of 1,024, and empties it.
    pub fn reset(&mut self, bytes: usize) {
        let words = bytes.next_multiple_of(1024) / WORD;
        if self.memory.len() < words {
            self.memory.resize(words, 0);
        }
        self.memory[words - 1] = END;
        (self.words, self.bytes, self.pairs) = (words, 0, 0);
    }

    /// Returns its address, and its size in bytes, which is far below 4 GiB.
    pub fn raw(&mut self) -> (*mut c_void, u32) {
        (self.memory.as_mut_ptr().cast(), (self.words * WORD) as u32)
    }

    /// Adds a pair. Returns false if it does not fit.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        let (at, value_at) = (self.bytes, self.bytes + key.len());
        let (used, top) = (value_at + value.len(), self.words.saturating_sub(4 * self.pairs));
        if used + 5 * WORD > top * WORD {
            return false;
        }
        let front: &mut [u8] = bytemuck::cast_slice_mut(&mut self.memory);
        front[at..value_at].copy_from_slice(key);
        front[value_at..used].copy_from_slice(value);
        // They fit, because they are below the buffer's size.
        let five = [END, value.len() as u32, value_at as u32, key.len() as u32, at as u32];
        self.memory[top - 5..top].copy_from_slice(&five);
        (self.bytes, self.pairs) = (used, self.pairs + 1);
        true
    }

    /// Returns whether nothing was pushed since the last reset.
    pub const fn is_empty(&self) -> bool {
        self.pairs == 0
    }

    /// Returns its pairs, written here or by the library.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut list = &self.memory[..self.words];
        let bytes: &[u8] = bytemuck::cast_slice(list);
        let slice = move |at: u32, size: u32| bytes.get(at as usize..)?.get(..size as usize);
        std::iter::from_fn(move || match *list {
            [ref rest @ .., value_size, value_at, key_size, key_at] if key_at != END => {
                list = rest;
                Some((slice(key_at, key_size)?, slice(value_at, value_size)?))
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_read_back_until_the_buffer_is_full() {
        let mut batch = Multiple::new();
        batch.reset(1024);
        let pair = |i: u8| (vec![i; usize::from(i) % 3], vec![!i; usize::from(i) % 7]);
        let pushed = (0..=255).take_while(|&i| batch.push(&pair(i).0, &pair(i).1)).count();
        assert!(pushed > 40 && pushed < 64, "{pushed} of 20 bytes and more in 1,024");
        let read: Vec<_> = batch.pairs().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        assert_eq!(read, (0..pushed as u8).map(pair).collect::<Vec<_>>());
        batch.reset(1024);
        assert!(batch.is_empty() && batch.pairs().next().is_none());
        assert!(!batch.push(&[0; 1024], &[]), "a pair larger than the buffer");
    }
}
