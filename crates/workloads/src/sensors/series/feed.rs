//! Readings as points, one at a time.

use embermark_contract::series::{FieldValue, Point, Points, TagValue};
use embermark_contract::{EngineError, Result};
use embermark_model::Reading;

use super::super::row_source::RowSource;
use super::{VALUES, time_ns};

/// A reading as a point: what is NULL has no field; a field that is always there makes a reading
/// of NULLs a point too, and counts.
pub(super) struct AsPoint {
    tags: [(&'static str, TagValue<'static>); 1],
    fields: [(&'static str, FieldValue<'static>); 5],
    present: usize,
    time_ns: i64,
}

impl AsPoint {
    pub(super) const EMPTY: Self = Self {
        tags: [("sensor", TagValue::Int(0))],
        fields: [("reading", FieldValue::Int(1)); 5],
        present: 1,
        time_ns: 0,
    };

    pub(super) fn set(&mut self, reading: &Reading) -> Result<()> {
        self.tags[0].1 = TagValue::Int(i64::from(reading.sensor));
        self.time_ns = time_ns(reading.ts)?;
        self.present = 1;
        for (column, name) in VALUES.into_iter().enumerate() {
            if let Some(value) = reading.get(column) {
                self.fields[self.present] = (name, FieldValue::Float(value));
                self.present += 1;
            }
        }
        Ok(())
    }

    pub(super) fn point(&self) -> Point<'_> {
        Point { tags: &self.tags, fields: &self.fields[..self.present], time_ns: self.time_ns }
    }
}

/// Readings on their way into a bulk load; ends early at one that is no point.
pub(super) struct PointFeed<'a> {
    pub source: RowSource<'a>,
    pub next: AsPoint,
    pub error: Option<EngineError>,
}

impl Points for PointFeed<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        match self.next.set(self.source.advance()?) {
            Ok(()) => Some(self.next.point()),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}
