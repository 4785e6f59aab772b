//! Encodes rows as points, and decodes points.

use embermark_contract::row::ResultRow;
use embermark_contract::series::{FieldValue, Point, Points, TagValue};
use embermark_contract::{EngineError, Result};
use embermark_model::table::{ColumnType, Value};
use smallvec::SmallVec;

use super::super::Rows;
use super::super::row::{self, Values};
use super::super::rows::Source;
use super::influxql::{MARK, Measurement};

/// Decodes a point.
pub(super) fn values<'a>(point: &'a dyn ResultRow, of: &Measurement) -> Result<Values<'a>> {
    (0..of.table.columns.len()).map(|column| value(point, column, column, of)).collect()
}

/// Decodes a column of a table at a position of an answer.
pub(super) fn value<'a>(
    point: &'a dyn ResultRow,
    at: usize,
    column: usize,
    measurement: &Measurement,
) -> Result<Value<'a>> {
    let of = measurement.table.columns[column].of;
    if Some(column) == measurement.time {
        let time = point.int(at)?.unwrap_or_default();
        return Ok(Value::Int(time.div_euclid(measurement.nanoseconds())));
    }
    if !measurement.tags.contains(&column) {
        return row::value(point, at, of);
    }
    let text = point.text(at)?.unwrap_or_default();
    if of == ColumnType::Text {
        return Ok(Value::Text(text));
    }
    let unfit = |error| {
        let doing = format!("give back the tag of column {at}");
        EngineError::failed("the engine", doing, format!("{text:?}: {error}"))
    };
    text.parse().map(Value::Int).map_err(unfit)
}

pub(super) type Tags<'a> = SmallVec<[(&'a str, TagValue<'a>); 4]>;

pub(super) type Fields<'a> = SmallVec<[(&'a str, FieldValue<'a>); 12]>;

/// A row as a point. Absent values have no field.
#[derive(Default)]
pub(super) struct Row<'a> {
    pub(super) tags: Tags<'a>,
    pub(super) fields: Fields<'a>,
    pub(super) time_ns: i64,
}

impl<'a> Row<'a> {
    /// Creates the point of a key, without fields.
    pub(super) fn of_key(
        measurement: &Measurement,
        key: impl IntoIterator<Item = Value<'a>>,
    ) -> Result<Self> {
        let mut row = Self::default();
        for (column, value) in measurement.table.key.iter().zip(key) {
            match value {
                Value::Int(time) if Some(*column) == measurement.time => {
                    row.time_ns = measurement.time_ns(time)?;
                }
                value if measurement.time.is_some() => row.tag(measurement, *column, value),
                _ => {}
            }
        }
        Ok(row)
    }

    /// Adds a tag.
    pub(super) fn tag(&mut self, measurement: &Measurement, column: usize, value: Value<'a>) {
        let value = match value {
            Value::Text(text) => TagValue::Text(text),
            Value::Int(int) => TagValue::Int(int),
            Value::Null | Value::Float(_) | Value::Bytes(_) => return,
        };
        self.tags.push((&measurement.table.columns[column].name, value));
    }

    /// Adds a field, if there is a value.
    pub(super) fn set(&mut self, measurement: &Measurement, column: usize, value: Value<'a>) {
        let value = match value {
            Value::Int(int) => FieldValue::Int(int),
            Value::Float(float) => FieldValue::Float(float),
            Value::Text(text) => FieldValue::Text(text),
            Value::Null | Value::Bytes(_) => return,
        };
        self.fields.push((&measurement.table.columns[column].name, value));
    }

    /// Creates the point of a row of a table.
    pub(super) fn whole(measurement: &Measurement, rows: &'a Rows, place: usize) -> Result<Self> {
        let values: Values<'a> = rows.row(place).collect();
        let mut row = Self::of_values(measurement, &values)?;
        if measurement.time.is_none() {
            row.time_ns = place as i64;
        }
        let is_beside = |tag: &&usize| !measurement.table.key.contains(tag);
        let beside = measurement.tags.iter().filter(is_beside);
        beside.for_each(|tag| row.tag(measurement, *tag, values[*tag]));
        Ok(row)
    }

    /// Creates the point of a row's values.
    pub(super) fn of_values(measurement: &Measurement, values: &[Value<'a>]) -> Result<Self> {
        let key = measurement.table.key.iter().map(|column| values[*column]);
        let mut row = Self::of_key(measurement, key)?;
        for column in &measurement.fields {
            row.set(measurement, *column, values[*column]);
        }
        if measurement.mark == MARK {
            row.fields.push((MARK, FieldValue::Int(1)));
        }
        Ok(row)
    }

    pub(super) fn point(&self) -> Point<'_> {
        Point { tags: &self.tags, fields: &self.fields, time_ns: self.time_ns }
    }
}

/// Points for a bulk load. It ends early at a row that cannot be a point.
pub(super) struct Feed<'a> {
    pub(super) source: Source<'a>,
    pub(super) of: &'a Measurement,
    pub(super) next: Row<'a>,
    pub(super) error: Option<EngineError>,
}

impl Points for Feed<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let (rows, place) = self.source.advance()?;
        match Row::whole(self.of, rows, place) {
            Ok(row) => {
                self.next = row;
                Some(self.next.point())
            }
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}
