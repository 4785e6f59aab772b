//! Answers: rows of values, and counts.

use std::fmt;
use std::io::{BufReader, Read};

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::NAME;
use super::cells::{Cell, Cells};
use super::request::EXACT;
use crate::row::{ResultRow, Visit};
use crate::{EngineError, Result};

/// Bytes of an answer that are read at once.
const READ: usize = 8 * 1024;

/// Visits the objects of a list as rows of these columns. What an object lacks is NULL. The
/// answer is read to its end, so that the connection can be used again.
pub(super) fn each(
    answer: impl Read,
    cells: &mut Cells,
    columns: &[&str],
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(READ, answer));
    let mut stopped = None;
    let rows = Rows { cells, columns, visit, stopped: &mut stopped };
    let read = json.deserialize_seq(rows).and_then(|()| json.end());
    stopped.map_or_else(|| read.map_err(unreadable), Err)
}

/// The number of records that a change says it made.
pub(super) fn count(answer: impl Read) -> Result<u64> {
    #[derive(Deserialize)]
    struct Changed {
        #[serde(alias = "inserted_hashes", alias = "update_hashes", alias = "deleted_hashes")]
        hashes: Vec<IgnoredAny>,
    }
    let answer = BufReader::with_capacity(READ, answer);
    let changed: Changed = serde_json::from_reader(answer).map_err(unreadable)?;
    Ok(changed.hashes.len() as u64)
}

/// That an answer is not what it should be.
pub(super) fn unreadable(error: serde_json::Error) -> EngineError {
    EngineError::failed(NAME, "give an answer that can be read", error)
}

struct Rows<'a, 'v> {
    cells: &'a mut Cells,
    columns: &'a [&'a str],
    visit: &'a mut Visit<'v>,
    /// The error of `visit`.
    stopped: &'a mut Option<EngineError>,
}

impl<'de> Visitor<'de> for Rows<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        while let Some(row) = list.next_element_seed(self.cells.columns(self.columns))? {
            if row != Cell::Compound {
                return Err(A::Error::custom("a row is no object"));
            }
            let row = Columns { cells: &self.cells.cells, row: self.cells };
            if let Err(error) = (self.visit)(&row) {
                *self.stopped = Some(error);
                return Err(A::Error::custom("the visitor stopped"));
            }
        }
        Ok(())
    }
}

/// The columns of a row, or of an element of a list in one.
struct Columns<'a> {
    cells: &'a [Cell],
    row: &'a Cells,
}

impl Columns<'_> {
    fn misfit(&self, column: usize, wanted: &str) -> EngineError {
        let found = match self.cells.get(column) {
            None => "nothing: there is no such column".to_owned(),
            Some(Cell::List(_) | Cell::Compound) => "a list or a document".to_owned(),
            Some(Cell::Text(_)) => "a text".to_owned(),
            Some(other) => format!("{other:?}"),
        };
        EngineError::failed(NAME, format!("give {wanted} as column {column}"), found)
    }
}

impl ResultRow for Columns<'_> {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        match self.cells.get(column) {
            Some(Cell::Null) => Ok(None),
            // What is larger may have been rounded.
            Some(Cell::Int(int)) if (-EXACT..=EXACT).contains(int) => Ok(Some(*int)),
            _ => Err(self.misfit(column, "an integer")),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript has doubles alone")]
    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.cells.get(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Int(int)) => Ok(Some(*int as f64)),
            Some(Cell::Float(float)) => Ok(Some(*float)),
            _ => Err(self.misfit(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.cells.get(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(range)) => Ok(Some(&self.row.text[range.clone()])),
            _ => Err(self.misfit(column, "a text")),
        }
    }

    fn list(&self, column: usize, visit: &mut Visit<'_>) -> Result<bool> {
        let elements = match self.cells.get(column) {
            Some(Cell::Null) => return Ok(false),
            Some(Cell::List(elements)) => &self.row.elements[elements.clone()],
            _ => return Err(self.misfit(column, "a list")),
        };
        for items in elements {
            visit(&Columns { cells: &self.row.items[items.clone()], row: self.row })?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
