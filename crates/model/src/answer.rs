//! Answers of runs, and their comparison with the oracle's.
//!
//! Integers and strings must be equal, floats within 1e-9 relative ([`close`]).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fingerprint::Checksum;

/// Relative tolerance within which two floats count as equal.
pub const TOLERANCE: f64 = 1e-9;

/// One value of an answer. Written as JSON it is `null`, a number, or a string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// Compared exactly.
    Int(i64),
    /// Compared within [`TOLERANCE`], relative.
    Float(f64),
    /// Compared exactly.
    Text(String),
}

/// The answer of an engine in one run of a phase, or the one that the oracle requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Number of rows changed or found.
    Count(u64),
    /// Rows read, by checksum.
    Checksum(Checksum),
}

impl Default for Answer {
    /// A count of 0.
    fn default() -> Self {
        Self::Count(0)
    }
}

/// The first difference between an answer and the oracle's, as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Difference(pub String);

/// Whether two floats count as equal: within [`TOLERANCE`] of the larger magnitude. An infinite one
/// has only itself.
pub fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).min(f64::MAX)
}

impl Value {
    /// Whether an engine may answer `other` where this value is expected.
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => close(*a, *b),
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

pub(crate) fn show(row: &[Value]) -> String {
    let cells: Vec<String> = row.iter().map(Value::to_string).collect();
    format!("({})", cells.join(", "))
}

impl Answer {
    /// Adds the answer of further clients to this one. `None` if they are of different kinds.
    pub fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Count(one), Self::Count(other)) => Some(Self::Count(one + other)),
            (Self::Checksum(mut both), Self::Checksum(other)) => {
                both += other;
                Some(Self::Checksum(both))
            }
            _ => None,
        }
    }

    /// Compares an engine's answer with this one, which is the oracle's.
    ///
    /// # Errors
    /// The [`Difference`].
    pub fn check(&self, got: &Self) -> Result<(), Difference> {
        let difference = match (self, got) {
            (expected, got) if expected == got => return Ok(()),
            (Self::Count(expected), Self::Count(got)) => {
                format!("expected {expected} rows, the engine counts {got}")
            }
            (Self::Checksum(expected), Self::Checksum(got)) if expected.rows != got.rows => {
                format!("expected {} rows, got {}", expected.rows, got.rows)
            }
            (Self::Checksum(expected), Self::Checksum(got)) => format!(
                "the {} rows read are not the rows expected (checksum {:016x}, expected {:016x})",
                got.rows, got.sum, expected.sum
            ),
            (expected, got) => {
                format!("expected {expected:?}, got an answer of another kind: {got:?}")
            }
        };
        Err(Difference(difference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_counts_and_kinds_are_compared() {
        let sum = |rows, sum| Answer::Checksum(Checksum { rows, sum });
        let differs = |expected: &Answer, got: Answer| expected.check(&got).unwrap_err().0;
        assert_eq!(sum(2, 9).check(&sum(2, 9)), Ok(()));
        assert_eq!(differs(&sum(2, 9), sum(1, 9)), "expected 2 rows, got 1");
        assert!(differs(&sum(2, 9), sum(2, 8)).contains("are not the rows expected"));
        assert!(differs(&sum(2, 9), Answer::Count(2)).contains("of another kind"));
        assert_eq!(Answer::Count(2).check(&Answer::Count(2)), Ok(()));
        assert_eq!(
            differs(&Answer::Count(2), Answer::Count(3)),
            "expected 2 rows, the engine counts 3"
        );
    }

    #[test]
    fn machines_of_a_fleet_send_answers_by_kind() {
        let sum = Answer::Checksum(Checksum { rows: 2, sum: u64::MAX });
        for (answer, json) in [
            (Answer::Count(3), r#"{"count":3}"#),
            (sum, r#"{"checksum":{"rows":2,"sum":18446744073709551615}}"#),
        ] {
            assert_eq!(serde_json::to_string(&answer).unwrap(), json);
            assert_eq!(serde_json::from_str::<Answer>(json).unwrap(), answer);
        }
    }

    #[test]
    fn floats_agree_within_tolerance_and_everything_else_exactly() {
        assert!(Value::Float(30.0).agrees(&Value::Float(30.000_000_001)));
        assert!(!Value::Float(20.0).agrees(&Value::Float(20.000_001)));
        let infinite = Value::Float(f64::INFINITY);
        assert!(infinite.agrees(&infinite) && !infinite.agrees(&Value::Float(f64::MAX)));
        assert!(!Value::Int(3).agrees(&Value::Int(4)) && Value::Null.agrees(&Value::Null));
    }
}
