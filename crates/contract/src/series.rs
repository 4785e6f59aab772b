//! The series family: points in time of named measurements, with tags that find them and fields
//! that they carry.

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

/// A value of a tag: text to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagValue<'a> {
    /// Written in decimal.
    Int(i64),
    /// As it is; may not be empty.
    Text(&'a str),
}

/// A point. Tags and time are its key: a point written again replaces the fields it brings and
/// keeps the others.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// Tags: names and values. Names need no escaping: letters, digits and underscores.
    pub tags: &'a [(&'a str, TagValue<'a>)],
    /// Fields: at least one. Names as of tags. One that is absent reads as NULL.
    pub fields: &'a [(&'a str, FieldValue<'a>)],
    /// Nanoseconds since 1970-01-01 UTC.
    pub time_ns: i64,
}

/// Gives points, one at a time; `None` ends it.
pub trait Points {
    /// The next point, valid until the next call.
    fn next(&mut self) -> Option<Point<'_>>;
}

/// A store of series, asked in InfluxQL. One client.
///
/// # Errors
/// Of every call the engine's message, and of one that visits rows the first error of `visit`.
pub trait SeriesStore: Lifecycle {
    /// Removes a measurement with all of its points.
    fn clear(&mut self, measurement: &str) -> Result<()>;

    /// Writes one point, kept as the tier promises when this returns.
    fn write(&mut self, measurement: &str, point: &Point<'_>) -> Result<()>;

    /// Writes points in batches of the size that the engine's manual advises, and returns how
    /// many.
    fn bulk(&mut self, measurement: &str, points: &mut dyn Points) -> Result<u64>;

    /// Waits until every point written can be read.
    ///
    /// # Errors
    /// When the engine has lost points that it was given.
    fn flush(&mut self) -> Result<()>;

    /// Asks a question in InfluxQL and visits the result as rows of the columns asked for: `time`
    /// (an integer, nanoseconds), tags of the group and names of the select list, by their names.
    /// Tags are text.
    fn query(&mut self, influxql: &str, columns: &[&str], visit: &mut Visit<'_>) -> Result<()>;

    /// Has points kept in files of so many ns of their time each, which go as a whole, where the engine has
    /// such; called before the first point. By default nothing.
    fn keep_by(&mut self, _span_ns: i64) -> Result<()> {
        Ok(())
    }

    /// Removes the points of a measurement that are older than a time, which is a multiple of what
    /// [`keep_by`](Self::keep_by) was given.
    fn expire(&mut self, measurement: &str, before_ns: i64) -> Result<()> {
        self.execute(&format!("DELETE FROM \"{measurement}\" WHERE time < {before_ns}"))
    }

    /// By which means it does so, for a reader.
    fn expires_by(&self) -> &'static str {
        "DELETE by a range of time"
    }

    /// Runs a statement without a result: a deletion.
    fn execute(&mut self, influxql: &str) -> Result<()>;
}
