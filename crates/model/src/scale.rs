//! The number of rows of a cell.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The requested number of rows of a cell: a count, or every row of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(try_from = "String", into = "String")]
pub enum Scale {
    /// Exactly this number of rows, at least one.
    Rows(u64),
    /// All rows of the data.
    Full,
}

/// An invalid scale: not a positive whole number, `10k`, `1M` or `full`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// Not a number of rows.
    #[error("'{0}' is not a scale: give a number of rows such as 1000, 10k or 1M, or 'full'")]
    NotAScale(String),
    /// Zero rows.
    #[error("a scale of 0 rows measures nothing: give at least 1")]
    Zero,
    /// More than [`Scale::MOST`] rows.
    #[error("a scale of {0} rows is beyond what one run can hold: give at most {most}", most = Scale::MOST)]
    Absurd(String),
}

impl Scale {
    /// The largest accepted scale: 10^9 rows, 48 GB of readings in memory.
    pub const MOST: u64 = 1_000_000_000;
}

impl FromStr for Scale {
    type Err = ScaleError;

    fn from_str(text: &str) -> Result<Self, ScaleError> {
        if text.eq_ignore_ascii_case("full") {
            return Ok(Self::Full);
        }
        let plain = text.replace(['_', ','], "");
        let (digits, unit) = match plain.chars().last() {
            Some('k' | 'K') => (&plain[..plain.len() - 1], 1_000),
            Some('m' | 'M') => (&plain[..plain.len() - 1], 1_000_000),
            _ => (plain.as_str(), 1),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ScaleError::NotAScale(text.to_owned()));
        }
        let rows = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
        match rows {
            Some(0) => Err(ScaleError::Zero),
            Some(n) if n <= Self::MOST => Ok(Self::Rows(n)),
            _ => Err(ScaleError::Absurd(text.to_owned())),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Full => f.pad("full"),
            Self::Rows(n) if n % 1_000_000 == 0 => f.pad(&format!("{}M", n / 1_000_000)),
            Self::Rows(n) if n % 1_000 == 0 => f.pad(&format!("{}k", n / 1_000)),
            Self::Rows(n) => f.pad(&n.to_string()),
        }
    }
}

impl From<Scale> for String {
    fn from(scale: Scale) -> Self {
        scale.to_string()
    }
}

impl TryFrom<String> for Scale {
    type Error = ScaleError;

    fn try_from(text: String) -> Result<Self, ScaleError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_read_back_as_they_are_written() {
        for text in ["1", "999", "1k", "10k", "1M", "full"] {
            assert_eq!(text.parse::<Scale>().unwrap().to_string(), text);
        }
        assert_eq!("1_000_000".parse(), Ok(Scale::Rows(1_000_000)));
    }

    #[test]
    fn zero_absurd_and_foreign_scales_are_refused_by_name() {
        assert_eq!("0".parse::<Scale>(), Err(ScaleError::Zero));
        assert!(matches!("99999999999999999999".parse::<Scale>(), Err(ScaleError::Absurd(_))));
        assert!(matches!("99999999M".parse::<Scale>(), Err(ScaleError::Absurd(_))));
        for text in ["", "-5", "k", "ten", "1.5k", "10kk"] {
            assert!(matches!(text.parse::<Scale>(), Err(ScaleError::NotAScale(_))), "{text}");
        }
    }
}
