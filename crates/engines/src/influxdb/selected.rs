//! Rows of an answer, with the columns that were asked for.

use super::NAME;
use super::answer::{Row, Series, Value};
use crate::row::ResultRow;
use crate::{EngineError, Result};

/// Where a column is found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Value(usize),
    Tag(usize),
}

/// Finds the columns in a series: among its values, then among its tags. Fails when one is missing,
/// and names the existing ones.
pub(super) fn places(columns: &[&str], series: &Series, found: &mut Vec<Place>) -> Result<()> {
    found.clear();
    for column in columns {
        let value = series.columns.iter().position(|name| name == column).map(Place::Value);
        let tag = || series.tags.iter().position(|(name, _)| name == column).map(Place::Tag);
        found.push(value.or_else(tag).ok_or_else(|| {
            let tags = series.tags.iter().map(|(name, _)| name);
            let known: Vec<&str> = series.columns.iter().chain(tags).map(String::as_str).collect();
            let why = format!("the answer has {} alone", known.join(", "));
            EngineError::failed(NAME, format!("give the column `{column}`"), why)
        })?);
    }
    Ok(())
}

/// A row with the columns that were asked for.
pub(super) struct Chosen<'a> {
    pub row: &'a Row,
    pub series: &'a Series,
    pub places: &'a [Place],
}

impl Chosen<'_> {
    fn value(&self, column: usize) -> Option<&Value> {
        match self.places.get(column)? {
            Place::Value(n) => self.row.values.get(*n),
            Place::Tag(_) => None,
        }
    }

    fn is_no(&self, column: usize, what: &str) -> EngineError {
        let held = match (self.value(column), self.places.get(column)) {
            (Some(Value::Text(range)), _) => format!("{:?}", self.row.text(range)),
            (Some(value), _) => format!("{value:?}"),
            (None, Some(_)) => "a tag, which is text".to_owned(),
            (None, None) => "nothing: it was not asked for".to_owned(),
        };
        let doing = format!("read column {column} as {what}");
        EngineError::failed(NAME, doing, format!("it holds {held}"))
    }
}

impl ResultRow for Chosen<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column) {
            Some(Value::Int(value)) => Ok(Some(*value)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.is_no(column, "an integer")),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column) {
            Some(Value::Float(value)) => Ok(Some(*value)),
            Some(Value::Int(value)) => Ok(Some(*value as f64)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.is_no(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        if let Some(Place::Tag(n)) = self.places.get(column) {
            return Ok(self.series.tags.get(*n).map(|(_, value)| value.as_str()));
        }
        match self.value(column) {
            Some(Value::Text(range)) => Ok(Some(self.row.text(range))),
            Some(Value::Null) => Ok(None),
            _ => Err(self.is_no(column, "text")),
        }
    }
}
