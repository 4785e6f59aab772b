//! Adds up the rows that a question finds.

use embermark_contract::Result;
use embermark_model::fingerprint::{Checksum, Fingerprint};

use super::super::codec::Codec;
use super::super::port::with;
use super::session::foreign;

/// Adds up the rows of pairs.
pub(super) struct RowSum<'a> {
    by_values: bool,
    codec: &'a Codec,
    rows: &'a mut Checksum,
    /// Whether a pair was not one of the table's.
    broken: bool,
}

impl<'a> RowSum<'a> {
    /// Adds to `rows` the bytes of pairs, or the values of their rows.
    pub(super) const fn new(by_values: bool, codec: &'a Codec, rows: &'a mut Checksum) -> Self {
        Self { by_values, codec, rows, broken: false }
    }

    /// Adds a pair.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        match print(self.by_values, self.codec, key, value) {
            Some(print) => *self.rows += print,
            None => self.broken = true,
        }
    }

    /// Returns whether every pair was one of the table's.
    pub(super) fn end(self) -> Result<()> {
        if self.broken { Err(foreign()) } else { Ok(()) }
    }
}

/// Returns what a pair adds: its bytes, or the values of its row.
#[inline]
pub(super) fn print(
    by_values: bool,
    codec: &Codec,
    key: &[u8],
    value: &[u8],
) -> Option<Fingerprint> {
    match by_values {
        true => codec.read(key, value, Fingerprint::default(), with),
        false => Some(Fingerprint::of_pair(key, value)),
    }
}
