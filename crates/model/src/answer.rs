//! Canonical answers, and their comparison with the oracle's.
//!
//! Integers and strings must be equal, floats within 1e-9 relative ([`close`]). Rows are compared
//! in a canonical order unless the order is part of the answer.

use std::cmp::Ordering;
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
    /// A float of a quantity whose natural size is 1, such as a correlation. Compared within
    /// [`TOLERANCE`], absolute. Only in the oracle's answers, which are not written.
    #[serde(skip)]
    Unit(f64),
    /// Compared exactly.
    Text(String),
    /// Only in the oracle's answer: the query has no stable answer, and any value is right.
    #[serde(skip)]
    Any,
}

/// One row of an answer.
pub type Row = Vec<Value>;

/// The answer of an engine in one run of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Number of rows changed or found.
    Count(u64),
    /// Rows read, by checksum.
    Checksum(Checksum),
    /// Result rows, in the order in which the engine returned them.
    Rows(Vec<Row>),
    /// Several named answers in sequence.
    Parts(Vec<(&'static str, Answer)>),
}

impl Default for Answer {
    /// A count of 0.
    fn default() -> Self {
        Self::Count(0)
    }
}

/// The answer that the oracle requires.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Exactly this number.
    Count(u64),
    /// Exactly these rows, by checksum.
    Checksum(Checksum),
    /// These rows in any order. Rows of `optional` may be in the answer or not. The exact columns
    /// of a row (integers and text) are its key and unique.
    Set {
        /// Rows that must be in the answer.
        rows: Vec<Row>,
        /// Rows at a threshold, within tolerance. The answer is right with or without them.
        optional: Vec<Row>,
    },
    /// The best rows in order.
    Top(Top),
    /// Each part in sequence.
    Parts(Vec<(&'static str, Expected)>),
}

/// An ordered answer of at most `limit` rows `[id, value]`: greatest value first, equal values by
/// ascending id. Floats within tolerance are tied and may come in any order.
#[derive(Clone, Debug)]
pub struct Top {
    /// Every row that may be in the answer, and whether it is required. A row at a threshold,
    /// within tolerance, may be left out.
    pub candidates: Vec<(Row, Required)>,
    /// Largest number of rows in the answer.
    pub limit: usize,
}

/// Whether a candidate of a [`Top`] is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// It belongs in the answer if it ranks high enough.
    Yes,
    /// It is at a threshold, within tolerance, and may be left out.
    No,
}

/// The first difference between an answer and the oracle's, as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Difference(pub String);

/// Whether two floats count as equal: within [`TOLERANCE`] of the larger magnitude.
pub fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}

impl Value {
    /// Whether an engine may answer `other` where this value is expected.
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Float(a), Self::Float(b)) => close(*a, *b),
            (Self::Unit(a), Self::Unit(b)) => (a - b).abs() <= TOLERANCE,
            (a, b) => a == b,
        }
    }

    const fn is_exact(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Text(_))
    }

    /// Orders greatest first. Floats within tolerance are equal, and so are NULLs.
    fn ranks(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) if !close(*a, *b) => a.total_cmp(b),
            _ => Ordering::Equal,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Float(x) | Self::Unit(x) => write!(f, "{x}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Any => f.write_str("anything"),
        }
    }
}

pub(crate) fn show(row: &[Value]) -> String {
    let cells: Vec<String> = row.iter().map(Value::to_string).collect();
    format!("({})", cells.join(", "))
}

fn difference<T>(text: String) -> Result<T, Difference> {
    Err(Difference(text))
}

/// Orders rows by their exact columns, which are their key.
fn by_key(a: &Row, b: &Row) -> Ordering {
    let key = |row: &Row| row.iter().filter(|v| v.is_exact()).map(sort_key).collect::<Vec<_>>();
    key(a).cmp(&key(b))
}

fn sort_key(value: &Value) -> (i64, String) {
    match value {
        Value::Int(n) => (*n, String::new()),
        Value::Text(text) => (0, text.clone()),
        _ => (0, String::new()),
    }
}

fn rows_agree(expected: &Row, got: &Row) -> bool {
    expected.len() == got.len() && expected.iter().zip(got).all(|(e, g)| e.agrees(g))
}

impl Expected {
    /// Compares an engine's answer with this one.
    ///
    /// # Errors
    /// The first [`Difference`], as a text that describes its position.
    pub fn check(&self, answer: &Answer) -> Result<(), Difference> {
        match (self, answer) {
            (Self::Count(expected), Answer::Count(got)) if expected == got => Ok(()),
            (Self::Count(expected), Answer::Count(got)) => {
                difference(format!("expected {expected} rows, the engine counts {got}"))
            }
            (Self::Checksum(expected), Answer::Checksum(got)) => check_sums(expected, got),
            (Self::Set { rows, optional }, Answer::Rows(got)) => check_set(rows, optional, got),
            (Self::Top(top), Answer::Rows(got)) => top.check_rows(got),
            (Self::Parts(expected), Answer::Parts(got)) => check_parts(expected, got),
            (expected, got) => {
                difference(format!("expected {expected:?}, got an answer of another kind: {got:?}"))
            }
        }
    }
}

fn check_sums(expected: &Checksum, got: &Checksum) -> Result<(), Difference> {
    if expected.rows != got.rows {
        return difference(format!("expected {} rows, got {}", expected.rows, got.rows));
    }
    if expected.sum != got.sum {
        return difference(format!(
            "the {} rows read are not the rows expected (checksum {:016x}, expected {:016x})",
            got.rows, got.sum, expected.sum
        ));
    }
    Ok(())
}

fn check_parts(
    expected: &[(&'static str, Expected)],
    got: &[(&'static str, Answer)],
) -> Result<(), Difference> {
    if expected.len() != got.len() {
        return difference(format!("expected {} answers, got {}", expected.len(), got.len()));
    }
    for ((name, expected), (_, got)) in expected.iter().zip(got) {
        expected.check(got).map_err(|difference| Difference(format!("{name}: {difference}")))?;
    }
    Ok(())
}

fn check_set(rows: &[Row], optional: &[Row], got: &[Row]) -> Result<(), Difference> {
    let mut wanted: Vec<(&Row, bool)> = rows.iter().map(|row| (row, true)).collect();
    wanted.extend(optional.iter().map(|row| (row, false)));
    wanted.sort_by(|a, b| by_key(a.0, b.0));
    let mut got: Vec<&Row> = got.iter().collect();
    got.sort_by(|a, b| by_key(a, b));

    let mut answers = got.into_iter().peekable();
    for (expected, required) in wanted {
        match answers.peek() {
            Some(row) if by_key(expected, row) == Ordering::Equal => {
                if !rows_agree(expected, row) {
                    return difference(format!(
                        "expected row {}, got {}",
                        show(expected),
                        show(row)
                    ));
                }
                answers.next();
            }
            Some(row) if by_key(expected, row) == Ordering::Greater => {
                return difference(format!("row {} should not be in the answer", show(row)));
            }
            _ if required => return difference(format!("row {} is missing", show(expected))),
            _ => {}
        }
    }
    match answers.next() {
        Some(row) => difference(format!("row {} should not be in the answer", show(row))),
        None => Ok(()),
    }
}

impl Top {
    fn check_rows(&self, got: &[Row]) -> Result<(), Difference> {
        if got.len() > self.limit {
            return difference(format!("expected at most {} rows, got {}", self.limit, got.len()));
        }
        let mut left: Vec<&(Row, Required)> = self.candidates.iter().collect();
        for row in got {
            let found = left.iter().position(|(c, _)| by_key_column(c, row) && rows_agree(c, row));
            match found {
                Some(i) => drop(left.remove(i)),
                None => {
                    return difference(format!("row {} should not be in the answer", show(row)));
                }
            }
        }
        for pair in got.windows(2) {
            let (above, below) = (&pair[0], &pair[1]);
            let wrong = match above[1].ranks(&below[1]) {
                Ordering::Less => true,
                // Equal integers are exactly tied, so the lower id comes first.
                Ordering::Equal => {
                    above[1].is_exact() && above[0].ranks(&below[0]) == Ordering::Greater
                }
                Ordering::Greater => false,
            };
            if wrong {
                return difference(format!("row {} comes before row {}", show(above), show(below)));
            }
        }
        let omitted = left.iter().find(|(candidate, required)| {
            *required == Required::Yes
                && match got.last() {
                    Some(last) if got.len() == self.limit => better(candidate, last),
                    _ => got.len() < self.limit,
                }
        });
        match omitted {
            Some((candidate, _)) => difference(format!("row {} is missing", show(candidate))),
            None => Ok(()),
        }
    }
}

fn by_key_column(candidate: &Row, row: &Row) -> bool {
    !row.is_empty() && candidate[0] == row[0]
}

fn better(candidate: &Row, last: &Row) -> bool {
    match candidate[1].ranks(&last[1]) {
        Ordering::Greater => true,
        Ordering::Equal => {
            candidate[1].is_exact() && candidate[0].ranks(&last[0]) == Ordering::Less
        }
        Ordering::Less => false,
    }
}

#[cfg(test)]
mod tests;
