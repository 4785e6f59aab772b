//! Rows of an answer, with the selected columns.

use super::NAME;
use super::answer::{Row, Series, Value};
use crate::row::ResultRow;
use crate::{EngineError, Result};

/// Source of a column: the value or the tag with this number.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnSource {
    Value(usize),
    Tag(usize),
}

/// Finds the columns in a series: among its values, then among its tags. Fails when one is missing,
/// and names the existing ones.
pub(super) fn find_columns(
    columns: &[&str],
    series: &Series,
    found: &mut Vec<ColumnSource>,
) -> Result<()> {
    found.clear();
    for column in columns {
        let value = series.columns.iter().position(|name| name == column).map(ColumnSource::Value);
        let tag = || series.tags.iter().position(|(name, _)| name == column).map(ColumnSource::Tag);
        found.push(value.or_else(tag).ok_or_else(|| {
            let tags = series.tags.iter().map(|(name, _)| name);
            let known: Vec<&str> = series.columns.iter().chain(tags).map(String::as_str).collect();
            let why = format!("the answer has only {}", known.join(", "));
            EngineError::failed(NAME, format!("give the column `{column}`"), why)
        })?);
    }
    Ok(())
}

pub(super) struct SelectedRow<'a> {
    pub row: &'a Row,
    pub series: &'a Series,
    pub sources: &'a [ColumnSource],
}

impl SelectedRow<'_> {
    fn value(&self, column: usize) -> Option<&Value> {
        match self.sources.get(column)? {
            ColumnSource::Value(n) => self.row.values.get(*n),
            ColumnSource::Tag(_) => None,
        }
    }

    fn wrong_type(&self, column: usize, what: &str) -> EngineError {
        let held = match (self.value(column), self.sources.get(column)) {
            (Some(Value::Text(range)), _) => format!("{:?}", self.row.text(range)),
            (Some(value), _) => format!("{value:?}"),
            (None, Some(_)) => "a tag, which is text".to_owned(),
            (None, None) => "nothing: it was not selected".to_owned(),
        };
        let doing = format!("read column {column} as {what}");
        EngineError::failed(NAME, doing, format!("it holds {held}"))
    }
}

impl ResultRow for SelectedRow<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column) {
            Some(Value::Int(value)) => Ok(Some(*value)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.wrong_type(column, "an integer")),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column) {
            Some(Value::Float(value)) => Ok(Some(*value)),
            Some(Value::Int(value)) => Ok(Some(*value as f64)),
            Some(Value::Null) => Ok(None),
            _ => Err(self.wrong_type(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        if let Some(ColumnSource::Tag(n)) = self.sources.get(column) {
            return Ok(self.series.tags.get(*n).map(|(_, value)| value.as_str()));
        }
        match self.value(column) {
            Some(Value::Text(range)) => Ok(Some(self.row.text(range))),
            Some(Value::Null) => Ok(None),
            _ => Err(self.wrong_type(column, "text")),
        }
    }
}
