//! Answers: rows of values, and counts.

use std::io::Read;
use std::ops::Range;

use super::NAME;
use super::json::{Fault, Json, Scalar};
use super::request::EXACT;
use crate::row::{ResultRow, Visit};
use crate::{EngineError, Result};

/// A row; its memory is used again for the next one.
#[derive(Default)]
pub(super) struct Row {
    cells: Vec<Cell>,
    /// Of lists, where the columns of each element lie among `items`.
    elements: Vec<Range<usize>>,
    items: Vec<Cell>,
    text: Vec<u8>,
    /// The names of the objects around a value, and its own, with points between.
    path: Vec<u8>,
    scratch: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Cell {
    Null,
    Bool,
    Int(i64),
    Float(f64),
    Text(Range<usize>),
    /// A list, whose elements lie there among `elements`.
    List(Range<usize>),
    /// An object.
    Compound,
}

impl Row {
    /// Visits the objects of a list as rows of these columns. What an object lacks is NULL.
    ///
    /// # Errors
    /// When the answer cannot be read, or the first error of `visit`.
    pub fn each<R: Read>(
        &mut self,
        json: &mut Json<'_, R>,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        json.take(b'[', "it is no list").map_err(Fault::of_engine)?;
        let mut first = true;
        while json.goes_on(&mut first, b']').map_err(Fault::of_engine)? {
            self.cells.clear();
            self.cells.resize(columns.len(), Cell::Null);
            self.elements.clear();
            self.items.clear();
            self.text.clear();
            self.path.clear();
            self.object(json, columns).map_err(Fault::of_engine)?;
            visit(&Columns { cells: &self.cells, row: self })?;
        }
        Ok(())
    }

    fn object<R: Read>(
        &mut self,
        json: &mut Json<'_, R>,
        columns: &[&str],
    ) -> std::result::Result<(), Fault> {
        json.take(b'{', "a row is no object")?;
        let (outer, mut first) = (self.path.len(), true);
        while json.goes_on(&mut first, b'}')? {
            json.name(&mut self.path)?;
            let path = self.path.as_slice();
            let column = columns.iter().position(|column| column.as_bytes() == path);
            let compound = matches!(json.peek()?, b'[' | b'{');
            if let Some(column) = column {
                self.cells[column] = match json.peek()? {
                    b'[' => self.list(json)?,
                    _ => self.cell(json)?,
                };
            } else if compound && is_within(columns, path) && json.peek()? == b'{' {
                self.path.push(b'.');
                self.object(json, columns)?;
            } else {
                json.skip(&mut self.scratch)?;
            }
            self.path.truncate(outer);
        }
        Ok(())
    }

    fn list<R: Read>(&mut self, json: &mut Json<'_, R>) -> std::result::Result<Cell, Fault> {
        let (from, mut first) = (self.elements.len(), true);
        json.take(b'[', "a list is missing")?;
        while json.goes_on(&mut first, b']')? {
            let (items, mut first) = (self.items.len(), true);
            if json.takes(b'[')? {
                while json.goes_on(&mut first, b']')? {
                    let item = self.cell(json)?;
                    self.items.push(item);
                }
            } else {
                let alone = self.cell(json)?;
                self.items.push(alone);
            }
            self.elements.push(items..self.items.len());
        }
        Ok(Cell::List(from..self.elements.len()))
    }

    fn cell<R: Read>(&mut self, json: &mut Json<'_, R>) -> std::result::Result<Cell, Fault> {
        if matches!(json.peek()?, b'[' | b'{') {
            json.skip(&mut self.scratch)?;
            return Ok(Cell::Compound);
        }
        let from = self.text.len();
        Ok(match json.scalar(&mut self.text)? {
            Scalar::Null => Cell::Null,
            Scalar::Bool => Cell::Bool,
            Scalar::Int(int) => Cell::Int(int),
            Scalar::Float(float) => Cell::Float(float),
            Scalar::Text => Cell::Text(from..self.text.len()),
        })
    }
}

/// Whether a column lies in the object of that path.
fn is_within(columns: &[&str], path: &[u8]) -> bool {
    columns.iter().any(|column| {
        column.as_bytes().strip_prefix(path).is_some_and(|rest| rest.first() == Some(&b'.'))
    })
}

/// The columns of a row, or of an element of a list in one.
struct Columns<'a> {
    cells: &'a [Cell],
    row: &'a Row,
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
            Some(Cell::Text(range)) => std::str::from_utf8(&self.row.text[range.clone()])
                .map(Some)
                .map_err(|_| self.misfit(column, "a text in UTF-8")),
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

/// The number of entries of the list of that name in an answer to a change.
///
/// # Errors
/// When the answer cannot be read, or has no such list.
pub(super) fn count<R: Read>(
    json: &mut Json<'_, R>,
    list: &'static str,
    scratch: &mut Vec<u8>,
) -> std::result::Result<u64, Fault> {
    json.take(b'{', "it is no object")?;
    let (mut first, mut count) = (true, None);
    while json.goes_on(&mut first, b'}')? {
        scratch.clear();
        json.name(scratch)?;
        let wanted = scratch.as_slice() == list.as_bytes();
        if !wanted || !json.takes(b'[')? {
            json.skip(scratch)?;
            continue;
        }
        let (mut first, mut entries) = (true, 0);
        while json.goes_on(&mut first, b']')? {
            scratch.clear();
            json.skip(scratch)?;
            entries += 1;
        }
        count = Some(entries);
    }
    count.ok_or(Fault::Absent(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = (Option<i64>, Option<f64>, Option<String>);

    fn rows(json: &str, columns: &[&str]) -> Result<Vec<Seen>> {
        let (mut buffer, mut seen) = ([0; 9], Vec::new());
        let mut json = Json::new(json.as_bytes(), &mut buffer);
        Row::default().each(&mut json, columns, &mut |row| {
            seen.push((row.int(0)?, row.float(1)?, row.text(2)?.map(str::to_owned)));
            Ok(())
        })?;
        json.finish().map_err(Fault::of_engine)?;
        Ok(seen)
    }

    #[test]
    fn rows_are_read_by_the_names_of_their_columns_in_any_order() {
        let json = r#"[{"c":"x\ny","b":2,"a":-1,"z":[{"a":7}]}, {"a":null,"q":{"b":5}},
            {"n":{"a":9,"m":{"b":1.5}},"a":3}]"#;
        let expected = vec![
            (Some(-1), Some(2.0), Some("x\ny".to_owned())),
            (None, None, None),
            (Some(3), None, None),
        ];
        assert_eq!(rows(json, &["a", "b", "c"]).unwrap(), expected);
        let nested = rows(json, &["n.a", "n.m.b", "c"]).unwrap();
        assert_eq!(nested[2], (Some(9), Some(1.5), None));
        assert_eq!(rows("[]", &["a", "b", "c"]).unwrap(), []);
    }

    #[test]
    fn a_value_of_another_kind_is_an_error_that_says_what_there_is() {
        let failed = |json: &str| rows(json, &["a", "b", "c"]).unwrap_err().to_string();
        assert!(failed(r#"[{"a":1.5}]"#).contains("Float(1.5)"));
        assert!(failed(r#"[{"a":9007199254740994}]"#).contains("an integer"));
        assert!(failed(r#"[{"b":"x"}]"#).contains("a text"));
        assert!(failed(r#"[{"c":[1]}]"#).contains("a list"));
        assert!(failed(r#"[{"a":1"#).contains("too early"));
        assert!(failed(r#"{"message":"x"}"#).contains("no list"));
    }

    #[test]
    fn the_elements_of_a_list_are_rows_of_their_items() {
        let json = r#"[{"s":[[1,2],[-3,"x"],4,[]],"t":null,"a":7},{"a":8,"s":[]},{"s":{"b":[1]}}]"#;
        let (mut buffer, mut seen) = ([0; 9], Vec::new());
        let mut json = Json::new(json.as_bytes(), &mut buffer);
        Row::default()
            .each(&mut json, &["a", "s", "t", "s.b"], &mut |row| {
                let (mut elements, mut texts) = (Vec::new(), Vec::new());
                let found = row.list(1, &mut |element| {
                    elements.push((element.int(0).ok().flatten(), element.int(1).ok().flatten()));
                    texts.push(element.text(1).ok().flatten().map(str::to_owned));
                    Ok(())
                });
                seen.push((found.ok(), elements, texts, row.list(2, &mut |_| Ok(())).ok()));
                Ok(())
            })
            .unwrap();
        let elements = vec![(Some(1), Some(2)), (Some(-3), None), (Some(4), None), (None, None)];
        let texts = vec![None, Some("x".to_owned()), None, None];
        assert_eq!(seen[0], (Some(true), elements, texts, Some(false)));
        assert_eq!(seen[1], (Some(true), vec![], vec![], Some(false)));
        assert_eq!(seen[2], (None, vec![], vec![], Some(false)));
    }

    #[test]
    fn the_entries_of_a_list_are_counted() {
        let counted = |json: &str| {
            let (mut buffer, mut scratch) = ([0; 4], Vec::new());
            count(&mut Json::new(json.as_bytes(), &mut buffer), "ids", &mut scratch)
        };
        assert_eq!(counted(r#"{"message":"[","ids":[1,"a,b",[2]],"more":[1]}"#).unwrap(), 3);
        assert_eq!(counted(r#"{"ids":[]}"#).unwrap(), 0);
        assert!(counted(r#"{"error":"x"}"#).is_err());
    }
}
