//! Documents as rows of the requested columns, read in place.

use smallvec::SmallVec;

use super::answer::{Document, Value};
use super::{NAME, failed};
use crate::row::{ResultRow, Visit};
use crate::{EngineError, Result};

/// Most columns that need no allocation.
const FEW: usize = 12;

/// Position of a column in a document: a field, and the path within it.
struct Place<'a> {
    field: &'a str,
    within: Option<&'a str>,
    /// Name as requested, for errors.
    name: &'a str,
}

pub(super) struct Columns<'a> {
    places: SmallVec<[Place<'a>; FEW]>,
}

impl<'a> Columns<'a> {
    /// Creates the columns of documents whose key has these fields. Those of a question's result
    /// have no key.
    pub fn new(key: &[&str], names: &[&'a str]) -> Self {
        let place = |&name: &&'a str| {
            let (field, within) = if key.contains(&name) {
                ("_id", (key.len() > 1).then_some(name))
            } else {
                name.split_once('.').map_or((name, None), |(field, within)| (field, Some(within)))
            };
            Place { field, within, name }
        };
        Self { places: names.iter().map(place).collect() }
    }

    pub fn row<'r>(&'r self, document: Document<'r>) -> Result<Row<'r>> {
        let mut values: SmallVec<[Value<'r>; FEW]> = SmallVec::new();
        values.resize(self.places.len(), Value::Null);
        for element in document {
            let (name, value) = element.map_err(|e| failed("read its answer", &e))?;
            for (place, slot) in self.places.iter().zip(&mut values) {
                if place.field.as_bytes() == name {
                    *slot = place.within.map_or(value, |path| within(value, path));
                }
            }
        }
        Ok(Row { places: &self.places, values })
    }
}

/// Returns the value at a path, or null if there is none.
fn within<'a>(value: Value<'a>, path: &str) -> Value<'a> {
    value.as_document().and_then(|document| document.at(path)).unwrap_or(Value::Null)
}

pub(super) struct Row<'a> {
    places: &'a [Place<'a>],
    values: SmallVec<[Value<'a>; FEW]>,
}

impl<'a> Row<'a> {
    fn value(&self, column: usize) -> Result<Value<'a>> {
        let none = || EngineError::failed(NAME, "read a row", format!("it has no column {column}"));
        self.values.get(column).copied().ok_or_else(none)
    }

    fn no(&self, wanted: &str, column: usize) -> EngineError {
        // An item of a list only has a number.
        let name =
            self.places.get(column).map_or_else(|| column.to_string(), |p| p.name.to_owned());
        let (doing, found) = (format!("read column `{name}`"), self.values[column].kind());
        EngineError::failed(NAME, doing, format!("{found} is not of type {wanted}"))
    }
}

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Date(ms) => Ok(Some(ms)),
            value => value.as_integer().map(Some).ok_or_else(|| self.no("integer", column)),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            value => value.as_float().map(Some).ok_or_else(|| self.no("number", column)),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            value => value.as_text().map(Some).ok_or_else(|| self.no("text", column)),
        }
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Binary(bytes) => Ok(Some(bytes)),
            _ => Err(self.no("bytes", column)),
        }
    }

    fn list(&self, column: usize, visit: &mut Visit<'_>) -> Result<bool> {
        let list = match self.value(column)? {
            Value::List(list) => list,
            Value::Null => return Ok(false),
            _ => return Err(self.no("list", column)),
        };
        let broken = |e| failed("read a list", &e);
        for element in list {
            let mut values = SmallVec::new();
            match element.map_err(broken)?.1 {
                Value::List(items) | Value::Document(items) => {
                    for item in items {
                        values.push(item.map_err(broken)?.1);
                    }
                }
                alone => values.push(alone),
            }
            visit(&Row { places: &[], values })?;
        }
        Ok(true)
    }
}
