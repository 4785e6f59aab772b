//! A limit for all memory that an engine uses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Largest number of bytes that an engine, its server and the page cache of its files may use
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct MemoryLimit(pub u64);

impl MemoryLimit {
    /// Returns the engine's cache within the limit if `asked` bytes are requested. It is at most a
    /// quarter of the limit, which leaves room for the page cache and the engine's other memory.
    pub const fn cache(self, asked: u64) -> u64 {
        if asked < self.0 / 4 { asked } else { self.0 / 4 }
    }
}

/// Units, largest first.
const UNITS: [(u64, &str); 5] =
    [(1 << 30, "GiB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1_000, "kB")];

impl fmt::Display for MemoryLimit {
    /// Writes `256 MiB` or `1500 MB`: in the largest unit that gives a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(unit, _)| self.0 >= *unit && self.0.is_multiple_of(*unit));
        let (unit, name) = whole.copied().unwrap_or((1, "B"));
        write!(f, "{} {name}", self.0 / unit)
    }
}

impl FromStr for MemoryLimit {
    type Err = String;

    /// Reads `256MiB` or `256 MiB`: a whole number and a unit.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let unit = UNITS.iter().find(|(_, name)| *name == unit.trim_start());
        let bytes =
            number.parse::<u64>().ok().zip(unit).and_then(|(n, (unit, _))| n.checked_mul(*unit));
        bytes.filter(|bytes| *bytes > 0).map(Self).ok_or_else(|| format!("'{text}' is not a size"))
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryLimit;

    #[test]
    fn a_limit_is_read_as_it_is_shown() {
        for limit in [256 << 20, 3 << 30, 1_500_000_000, 1_024] {
            assert_eq!(MemoryLimit(limit).to_string().parse(), Ok(MemoryLimit(limit)));
        }
        assert_eq!("256MiB".parse(), Ok(MemoryLimit(256 << 20)));
        for wrong in ["", "256", "MiB", "0MiB", "1 mib", "-1MiB", "99999999999GiB"] {
            assert!(wrong.parse::<MemoryLimit>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_is_shown_in_the_largest_unit_that_leaves_it_whole() {
        for (bytes, shown) in [
            (256 << 20, "256 MiB"),
            (2 << 30, "2 GiB"),
            (1536 << 20, "1536 MiB"),
            (256_000_000, "256 MB"),
            (20 << 10, "20 KiB"),
            (4_097, "4097 B"),
        ] {
            assert_eq!(MemoryLimit(bytes).to_string(), shown);
        }
    }

    #[test]
    fn the_cache_within_a_limit_is_a_quarter_of_it_at_most() {
        let limit = MemoryLimit(256 << 20);
        assert_eq!(limit.cache(64 << 20), 64 << 20);
        assert_eq!(limit.cache(200 << 20), 64 << 20);
        assert_eq!(MemoryLimit(64 << 20).cache(64 << 20), 16 << 20);
    }
}
