//! The series family: points in time of named measurements. Tags find them, and fields carry their
//! values.

use crate::row::Visit;
use crate::{Lifecycle, Result};

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Float(f64),
    /// A string.
    Text(&'a str),
}

/// A value of a tag, which is text to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagValue<'a> {
    /// Written in decimal.
    Int(i64),
    /// Written as it is. Must not be empty.
    Text(&'a str),
}

/// A point. Its key is its tags and time. A point that is written again replaces the given fields
/// and keeps the others.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// Tags: names and values. Names need no escaping: letters, digits and underscores.
    pub tags: &'a [(&'a str, TagValue<'a>)],
    /// Fields: at least one. Names follow the rule of tags. An absent field reads as NULL.
    pub fields: &'a [(&'a str, FieldValue<'a>)],
    /// Nanoseconds since 1970-01-01 UTC.
    pub time_ns: i64,
}

/// Supplies points one at a time. `None` ends the supply.
pub trait Points {
    /// Returns the next point, valid until the next call.
    fn next(&mut self) -> Option<Point<'_>>;
}

/// A store of series, queried in InfluxQL. One client.
///
/// # Errors
/// Every call fails with the engine's message. A call that visits rows also fails with the first
/// error of `visit`.
pub trait SeriesStore: Lifecycle {
    /// Removes a measurement with all of its points.
    fn clear(&mut self, measurement: &str) -> Result<()>;

    /// Writes one point. It is kept as the tier promises when this returns.
    fn write(&mut self, measurement: &str, point: &Point<'_>) -> Result<()>;

    /// Writes points in batches of the size that the engine's manual advises, and returns their
    /// number.
    fn bulk(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64>;

    /// Waits until every point written can be read.
    ///
    /// # Errors
    /// If the engine has lost points.
    fn flush(&mut self) -> Result<()>;

    /// Runs an InfluxQL query and visits the result as rows of the requested columns, by name:
    /// `time` (an integer, nanoseconds), tags of the group and names of the select list. Tags are
    /// text.
    fn query(&mut self, influxql: &str, columns: &[&str], visit: &mut Visit<'_>) -> Result<()>;

    /// Makes the engine keep points in files that each cover this span of time in nanoseconds and
    /// are removed as a whole. Called before the first point. The default does nothing, for engines
    /// without such files.
    fn keep_by(&mut self, _span_ns: i64) -> Result<()> {
        Ok(())
    }

    /// Removes the points of a measurement that are older than a time. The time is a multiple of
    /// the span given to [`keep_by`](Self::keep_by).
    fn expire(&mut self, measurement: &str, before_ns: i64) -> Result<()> {
        self.execute(&format!("DELETE FROM \"{measurement}\" WHERE time < {before_ns}"))
    }

    /// Describes for a reader how [`expire`](Self::expire) works.
    fn expires_by(&self) -> &'static str {
        "DELETE by a range of time"
    }

    /// Runs a statement without a result, such as a deletion.
    fn execute(&mut self, influxql: &str) -> Result<()>;
}
