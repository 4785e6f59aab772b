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

/// Number of bytes of an answer that are read at once.
const READ: usize = 8 * 1024;

/// Visits the objects of a list as rows of these columns. A member that an object lacks is NULL.
/// The answer is read to its end, so that the connection can be used again.
pub(super) fn visit_rows(
    answer: impl Read,
    cells: &mut Cells,
    columns: &[&str],
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(READ, answer));
    let mut stopped = None;
    let rows = Rows { cells, columns, visit, stopped: &mut stopped };
    let read = json.deserialize_seq(rows).and_then(|()| json.end());
    stopped.map_or_else(|| read.map_err(invalid_answer), Err)
}

/// Reads the number of records that a change reports.
pub(super) fn count(answer: impl Read) -> Result<u64> {
    #[derive(Deserialize)]
    struct Changed {
        #[serde(alias = "inserted_hashes", alias = "update_hashes", alias = "deleted_hashes")]
        hashes: Vec<IgnoredAny>,
    }
    let answer = BufReader::with_capacity(READ, answer);
    let changed: Changed = serde_json::from_reader(answer).map_err(invalid_answer)?;
    Ok(changed.hashes.len() as u64)
}

/// Makes the error for an answer that is not what it should be.
pub(super) fn invalid_answer(error: serde_json::Error) -> EngineError {
    EngineError::failed(NAME, "give a valid answer", error)
}

struct Rows<'a, 'v> {
    cells: &'a mut Cells,
    columns: &'a [&'a str],
    visit: &'a mut Visit<'v>,
    /// The error that `visit` returned.
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
                return Err(A::Error::custom("a row is not an object"));
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

/// The columns of a row, or of an element of a list in a row.
struct Columns<'a> {
    cells: &'a [Cell],
    row: &'a Cells,
}

impl Columns<'_> {
    fn wrong_type(&self, column: usize, wanted: &str) -> EngineError {
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
            // A larger number may have been rounded.
            Some(Cell::Int(int)) if (-EXACT..=EXACT).contains(int) => Ok(Some(*int)),
            _ => Err(self.wrong_type(column, "an integer")),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript only has doubles")]
    fn float(&self, column: usize) -> Result<Option<f64>> {
        match self.cells.get(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Int(int)) => Ok(Some(*int as f64)),
            Some(Cell::Float(float)) => Ok(Some(*float)),
            _ => Err(self.wrong_type(column, "a number")),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&str>> {
        match self.cells.get(column) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(range)) => Ok(Some(&self.row.text[range.clone()])),
            _ => Err(self.wrong_type(column, "a text")),
        }
    }

    fn list(&self, column: usize, visit: &mut Visit<'_>) -> Result<bool> {
        let elements = match self.cells.get(column) {
            Some(Cell::Null) => return Ok(false),
            Some(Cell::List(elements)) => &self.row.elements[elements.clone()],
            _ => return Err(self.wrong_type(column, "a list")),
        };
        for items in elements {
            visit(&Columns { cells: &self.row.items[items.clone()], row: self.row })?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = (Option<i64>, Option<f64>, Option<String>);

    fn rows(json: &str, columns: &[&str]) -> Result<Vec<Seen>> {
        let mut seen = Vec::new();
        visit_rows(json.as_bytes(), &mut Cells::default(), columns, &mut |row| {
            seen.push((row.int(0)?, row.float(1)?, row.text(2)?.map(str::to_owned)));
            Ok(())
        })?;
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
    fn a_value_of_another_kind_is_an_error_with_the_value() {
        let failed = |json: &str| rows(json, &["a", "b", "c"]).unwrap_err().to_string();
        assert!(failed(r#"[{"a":1.5}]"#).contains("Float(1.5)"));
        assert!(failed(r#"[{"a":9007199254740994}]"#).contains("an integer"));
        assert!(failed(r#"[{"b":"x"}]"#).contains("a text"));
        assert!(failed(r#"[{"c":[1]}]"#).contains("a list"));
        assert!(failed(r#"[{"a":1"#).contains("EOF"));
        assert!(failed(r#"{"message":"x"}"#).contains("expected a list of rows"));
        assert!(
            failed("[7]").contains("not an object") && failed("[[]]").contains("not an object")
        );
        assert!(failed(r#"[{"a":1}] x"#).contains("trailing"));
    }

    #[test]
    fn the_elements_of_a_list_are_rows_of_their_items() {
        let json = r#"[{"s":[[1,2],[-3,"x"],4,[]],"t":null,"a":7},{"a":8,"s":[]},{"s":{"b":[1]}}]"#;
        let mut seen = Vec::new();
        visit_rows(json.as_bytes(), &mut Cells::default(), &["a", "s", "t", "s.b"], &mut |row| {
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
        let counted = |json: &str| count(json.as_bytes());
        let json = r#"{"message":"[","inserted_hashes":[1,"a,b",[2]],"skipped_hashes":[1]}"#;
        assert_eq!(counted(json).unwrap(), 3);
        assert_eq!(counted(r#"{"deleted_hashes":[]}"#).unwrap(), 0);
        assert!(counted(r#"{"error":"x"}"#).is_err());
    }
}
