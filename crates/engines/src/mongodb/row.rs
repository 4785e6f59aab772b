//! Documents as rows of the columns asked for, read in place.

use mongodb::bson::{RawBsonRef, RawDocument};
use smallvec::SmallVec;

use super::{NAME, failed};
use crate::document::CollectionDef;
use crate::row::{ResultRow, Visit};
use crate::{EngineError, Result};

/// Columns that need no memory of their own.
const FEW: usize = 12;

/// Where a column stands in a document: a field, and the way from there.
struct Place<'a> {
    field: &'a str,
    within: Option<&'a str>,
    /// As it was asked for, for errors.
    name: &'a str,
}

/// The columns of a result.
pub(super) struct Columns<'a> {
    places: SmallVec<[Place<'a>; FEW]>,
}

impl<'a> Columns<'a> {
    /// Of documents as they are stored, the fields of the key among the columns.
    pub fn stored(def: &'static CollectionDef, names: &[&'a str]) -> Self {
        let place = |&name: &&'a str| match (def.key.contains(&name), def.key.len()) {
            (true, 1) => Place { field: "_id", within: None, name },
            (true, _) => Place { field: "_id", within: Some(name), name },
            (false, _) => Self::place(name),
        };
        Self { places: names.iter().map(place).collect() }
    }

    /// Of documents that a question made.
    pub fn made(names: &[&'a str]) -> Self {
        Self { places: names.iter().map(|name| Self::place(name)).collect() }
    }

    fn place(name: &'a str) -> Place<'a> {
        match name.split_once('.') {
            Some((field, within)) => Place { field, within: Some(within), name },
            None => Place { field: name, within: None, name },
        }
    }

    /// The row of a document.
    ///
    /// # Errors
    /// When the document is not well-formed.
    pub fn row<'r>(&'r self, document: &'r RawDocument) -> Result<Row<'r>> {
        let mut values: SmallVec<[RawBsonRef<'r>; FEW]> = SmallVec::new();
        values.resize(self.places.len(), RawBsonRef::Null);
        for element in document {
            let (name, value) = element.map_err(|e| failed("read its answer", &e.into()))?;
            for (place, slot) in self.places.iter().zip(&mut values) {
                if place.field == name.as_str() {
                    *slot = match place.within {
                        None => value,
                        Some(path) => within(value, path),
                    };
                }
            }
        }
        Ok(Row { places: &self.places, values })
    }
}

/// What stands at a path in a value; null where there is none.
fn within<'a>(value: RawBsonRef<'a>, path: &str) -> RawBsonRef<'a> {
    let Some(document) = value.as_document() else { return RawBsonRef::Null };
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    match (document.get(name), rest) {
        (Ok(Some(found)), Some(rest)) => within(found, rest),
        (Ok(Some(found)), None) => found,
        _ => RawBsonRef::Null,
    }
}

/// A document as a row.
pub(super) struct Row<'a> {
    places: &'a [Place<'a>],
    values: SmallVec<[RawBsonRef<'a>; FEW]>,
}

impl<'a> Row<'a> {
    fn value(&self, column: usize) -> Result<RawBsonRef<'a>> {
        let none = || EngineError::failed(NAME, "read a row", format!("it has no column {column}"));
        self.values.get(column).copied().ok_or_else(none)
    }

    fn no(&self, wanted: &str, column: usize) -> EngineError {
        // An item of a list has a number alone.
        let name =
            self.places.get(column).map_or_else(|| column.to_string(), |p| p.name.to_owned());
        let found = self.values[column].element_type();
        EngineError::failed(
            NAME,
            format!("read column `{name}`"),
            format!("{found:?} is no {wanted}"),
        )
    }
}

/// 2^63, the first double above every 64-bit integer.
const END_OF_INTEGERS: f64 = 9_223_372_036_854_775_808.0;

impl ResultRow for Row<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.value(column)? {
            RawBsonRef::Int64(int) => Ok(Some(int)),
            RawBsonRef::Int32(int) => Ok(Some(int.into())),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            // Arithmetic of a pipeline gives doubles.
            RawBsonRef::Double(float)
                if float.fract() == 0.0 && (-END_OF_INTEGERS..END_OF_INTEGERS).contains(&float) =>
            {
                Ok(Some(float as i64))
            }
            _ => Err(self.no("integer", column)),
        }
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.value(column)? {
            RawBsonRef::Double(float) => Ok(Some(float)),
            RawBsonRef::Int32(int) => Ok(Some(int.into())),
            RawBsonRef::Int64(int) => Ok(Some(int as f64)),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            RawBsonRef::Decimal128(decimal) => {
                let float = decimal.to_string().parse();
                float.map(Some).map_err(|_| self.no("number", column))
            }
            _ => Err(self.no("number", column)),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.value(column)? {
            RawBsonRef::String(text) => Ok(Some(text)),
            RawBsonRef::Null | RawBsonRef::Undefined => Ok(None),
            _ => Err(self.no("text", column)),
        }
    }

    fn list(&self, column: usize, visit: &mut Visit<'_>) -> Result<bool> {
        let list = match self.value(column)? {
            RawBsonRef::Array(list) => list,
            RawBsonRef::Null | RawBsonRef::Undefined => return Ok(false),
            _ => return Err(self.no("list", column)),
        };
        for element in list {
            let mut values = SmallVec::new();
            match element.map_err(|e| failed("read a list", &e.into()))? {
                RawBsonRef::Array(items) => {
                    for item in items {
                        values.push(item.map_err(|e| failed("read a list", &e.into()))?);
                    }
                }
                alone => values.push(alone),
            }
            visit(&Row { places: &[], values })?;
        }
        Ok(true)
    }
}
