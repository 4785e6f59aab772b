//! Checksums of rows that do not depend on the order in which rows arrive.

use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The number of rows and the wrapping sum of their fingerprints. Equal sets of rows have equal
/// checksums, in whatever order they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum {
    /// Number of rows.
    pub rows: u64,
    /// Wrapping sum of the rows' fingerprints.
    pub sum: u64,
}

impl AddAssign<Fingerprint> for Checksum {
    #[inline]
    fn add_assign(&mut self, row: Fingerprint) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(row.0);
    }
}

impl SubAssign<Fingerprint> for Checksum {
    /// Removes a row that was added.
    fn sub_assign(&mut self, row: Fingerprint) {
        self.rows = self.rows.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(row.0);
    }
}

impl AddAssign for Checksum {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl<T> FromIterator<T> for Checksum
where
    Self: AddAssign<T>,
{
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut checksum = Self::default();
        rows.into_iter().for_each(|row| checksum += row);
        checksum
    }
}

/// 64 bits that combine the columns of one row, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x1d8e_4e27_c47d_124f)
    }
}

impl Fingerprint {
    /// Adds an integer column.
    #[inline]
    #[must_use]
    pub const fn int(self, value: i64) -> Self {
        Self(fold(self.0 ^ 0xa076_1d64_78bd_642f, value as u64 ^ 0xe703_7ed1_a0b4_28db))
    }

    /// Returns the bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Adds a text column.
    #[inline]
    #[must_use]
    pub fn text(self, value: &str) -> Self {
        self.bytes(value.as_bytes())
    }

    /// Adds a column of bytes. Gives the same result as [`text`](Self::text) for the bytes of a
    /// text.
    #[inline]
    #[must_use]
    pub fn bytes(self, value: &[u8]) -> Self {
        self.int(xxh3_64(value).cast_signed())
    }

    /// Returns the fingerprint of a pair of bytes as a key-value store returns it.
    #[inline]
    pub fn of_pair(key: &[u8], value: &[u8]) -> Self {
        // Two words, which may overlap, cover a key of 8 to 16 bytes.
        let key = match (key.first_chunk(), key.last_chunk()) {
            (Some(first), Some(last)) if key.len() <= 16 => fold(
                u64::from_le_bytes(*first) ^ 0x8ebc_6af0_9c88_c6e3,
                u64::from_le_bytes(*last) ^ 0x5899_65cc_7537_4cc3 ^ key.len() as u64,
            ),
            _ => xxh3_64(key),
        };
        Self(fold(key ^ 0xa076_1d64_78bd_642f, xxh3_64(value) ^ 0xe703_7ed1_a0b4_28db))
    }
}

/// Multiplies to 128 bits and folds the halves together: the mixing step of wyhash (Wang Yi, 2019),
/// here over whole words.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let wide = (a as u128) * (b as u128);
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_but_every_column_does() {
        let row = |sensor, ts, temperature: f64| {
            Fingerprint::default().int(sensor).int(ts).int(temperature.to_bits().cast_signed())
        };
        let sum = |rows: [Fingerprint; 2]| rows.into_iter().collect::<Checksum>();
        let (a, b) = (row(1, 10, 20.0), row(2, 10, 21.0));
        assert_eq!(sum([a, b]), sum([b, a]));
        assert_ne!(sum([a, b]), sum([row(1, 10, 21.0), row(2, 10, 20.0)]));
        for changed in [row(3, 10, 20.0), row(1, 11, 20.0), row(1, 10, 20.000_000_1)] {
            assert_ne!(a, changed);
        }
    }

    #[test]
    fn columns_are_bound_in_their_order_and_at_their_borders() {
        let row = |id, a: &str, b: &str| Fingerprint::default().int(id).text(a).text(b);
        let different = [
            row(1, "ab", "c"),
            row(1, "a", "bc"),
            row(1, "c", "ab"),
            row(2, "ab", "c"),
            row(1, "abc", ""),
            row(1, "ab\0", "c"),
            row(1, "abcdefgh", "c"),
            row(1, "abcdefghi", "c"),
        ];
        for (i, one) in different.iter().enumerate() {
            assert!(different[..i].iter().all(|other| other != one), "{i}");
        }
        let sum = |rows: [Fingerprint; 2]| rows.into_iter().collect::<Checksum>();
        let [a, b, ..] = different;
        assert_eq!(sum([a, b]), sum([b, a]));
        assert_ne!(sum([a, a]), sum([a, b]));
    }

    #[test]
    fn pairs_are_told_apart_by_every_byte_of_key_and_value() {
        for length in [0, 1, 7, 8, 10, 15, 16, 17, 40] {
            let bytes: Vec<u8> = (0..length).collect();
            let (key, value) =
                (Fingerprint::of_pair(&bytes, b"v"), Fingerprint::of_pair(b"k", &bytes));
            assert_eq!(key, Fingerprint::of_pair(&bytes, b"v"));
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                assert_ne!(Fingerprint::of_pair(&changed, b"v"), key, "{length}, {at}");
                assert_ne!(Fingerprint::of_pair(b"k", &changed), value, "{length}, {at}");
                let shorter = &bytes[..at];
                assert_ne!(Fingerprint::of_pair(shorter, b"v"), key, "{length}, {at}");
            }
        }
        assert_ne!(Fingerprint::of_pair(b"ab", b"c"), Fingerprint::of_pair(b"a", b"bc"));
        assert_ne!(Fingerprint::of_pair(b"a", b"b"), Fingerprint::of_pair(b"b", b"a"));
    }
}
