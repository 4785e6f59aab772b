//! Answers to questions: series of rows, read a piece at a time.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error};

use super::NAME;
use crate::cells::{Cell, Cells};
use crate::{EngineError, Result};

/// Bytes of an answer that are read at once.
const READ: usize = 8 * 1024;

/// Rows, and what they have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Series {
    /// Tags of the group, by name.
    pub tags: BTreeMap<String, String>,
    /// Names of the values.
    pub columns: Vec<String>,
    #[serde(deserialize_with = "rows")]
    values: Cells,
    partial: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Piece {
    results: Vec<Answer>,
    error: Option<String>,
}

/// The answer to one question of a request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    series: Vec<Series>,
    partial: bool,
    error: Option<String>,
}

/// Receives a row's values in the order of its series' columns, whether it is the first one of the
/// series, and the series.
pub(super) type Receive<'a> = dyn FnMut(&[Cell], bool, &Series) -> Result<()> + 'a;

/// Reads an answer to its end. It comes in pieces, each a value of its own
/// (<https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>, `chunked`):
/// `{"results": [{"series": [{"name", "tags", "columns", "values"}], "partial"}]}`, where
/// `partial` says that more follows, and `error` stands in a result or in its place.
///
/// # Errors
/// The engine's, in whatever piece; that of `receive`; an answer that breaks off.
pub(super) fn read(answer: impl Read, receive: &mut Receive<'_>) -> Result<()> {
    let said = |message: String| EngineError::failed(NAME, "answer the question", message);
    let broken = |why: String| EngineError::failed(NAME, "end its answer", why);
    let mut answer = BufReader::with_capacity(READ, answer);
    let mut partial = false;
    while !answer.fill_buf().map_err(|error| broken(error.to_string()))?.is_empty() {
        let piece = Piece::deserialize(&mut rmp_serde::Deserializer::new(&mut answer));
        let piece = piece.map_err(|error| broken(error.to_string()))?;
        piece.error.map_or(Ok(()), |message| Err(said(message)))?;
        for answer in piece.results {
            answer.error.map_or(Ok(()), |message| Err(said(message)))?;
            partial = answer.partial || answer.series.iter().any(|series| series.partial);
            for series in &answer.series {
                for (n, row) in series.values.elements.iter().enumerate() {
                    if row.len() != series.columns.len() {
                        return Err(broken("a row is not as wide as its columns".to_owned()));
                    }
                    receive(&series.values.items[row.clone()], n == 0, series)?;
                }
            }
        }
    }
    if partial {
        return Err(said("rows are missing at its end (is max-row-limit set?)".to_owned()));
    }
    Ok(())
}

fn rows<'de, D: Deserializer<'de>>(values: D) -> std::result::Result<Cells, D::Error> {
    let mut cells = Cells::default();
    match cells.list().deserialize(values)? {
        Cell::List(_) | Cell::Null => Ok(cells),
        _ => Err(D::Error::custom("its rows are no list")),
    }
}

impl Series {
    /// A text of one of its rows.
    pub fn text(&self, range: &Range<usize>) -> &str {
        &self.values.text[range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What is read of an answer that comes in these pieces: each row with its series' tags.
    fn given(pieces: &[Value]) -> Result<Vec<String>> {
        let bytes: Vec<u8> = pieces.iter().flat_map(|p| rmp_serde::to_vec(p).unwrap()).collect();
        given_bytes(&bytes)
    }

    fn given_bytes(mut bytes: &[u8]) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        read(&mut bytes, &mut |row, first, series| {
            let text = |cell: &Cell| match cell {
                Cell::Text(range) => series.text(range).to_owned(),
                other => format!("{other:?}"),
            };
            let values: Vec<_> = row.iter().map(text).collect();
            rows.push(format!("{first} {:?} {}", series.tags, values.join(" ")));
            Ok(())
        })?;
        Ok(rows)
    }

    fn piece(values: Value, partial: bool) -> Value {
        let series = json!({"name": "m", "tags": {"t": "x"}, "columns": ["time", "v"],
            "values": values, "new": [{"unknown": 1}]});
        json!({"results": [{"statement_id": 0, "series": [series], "partial": partial}]})
    }

    #[test]
    fn rows_come_in_the_order_of_their_pieces_with_values_as_they_are() {
        let pieces = [
            piece(json!([[i64::MIN, 0.1], [200, "grün"]]), true),
            piece(json!([[null, true], [-1, [1]]]), false),
        ];
        let expected = [
            r#"true {"t": "x"} Int(-9223372036854775808) Float(0.1)"#,
            r#"false {"t": "x"} Int(200) grün"#,
            r#"true {"t": "x"} Null Bool(true)"#,
            r#"false {"t": "x"} Int(-1) List(0..0)"#,
        ];
        assert_eq!(given(&pieces).unwrap(), expected);
        assert!(given(&[json!({"results": [{"statement_id": 0}]})]).unwrap().is_empty());
        assert!(given(&[piece(Value::Null, false)]).unwrap().is_empty());
        assert!(given(&[]).unwrap().is_empty());
    }

    #[test]
    fn an_answer_that_is_not_what_it_should_be_is_an_error_and_a_cut_one_too() {
        let failed = |answer: Value| given(&[answer]).unwrap_err().to_string();
        assert!(failed(piece(json!([[1]]), false)).contains("not as wide"));
        assert!(failed(piece(json!("none"), false)).contains("no list"));
        assert!(failed(piece(json!([[1, 2]]), true)).contains("rows are missing"));
        assert!(failed(json!({"error": "no"})).contains("answer the question: no"));
        assert!(failed(json!({"results": [{"error": "no"}]})).contains("answer the question: no"));
        assert!(failed(json!({"results": 7})).contains("end its answer"));
        assert!(failed(json!("text")).contains("end its answer"));
        let whole = rmp_serde::to_vec(&piece(json!([[1, "text"]]), false)).unwrap();
        for end in 1..whole.len() {
            assert!(given_bytes(&whole[..end]).is_err(), "{end}");
        }
        // A text that claims 4 GiB.
        assert!(given_bytes(&[0x81, 0xdb, 255, 255, 255, 255, b'x']).is_err());
    }

    #[test]
    fn an_extension_is_passed_over() {
        // {"results": [{"series": [{"columns": ["a"], "values": [[an extension of four bytes]]}]}]}
        let mut bytes = b"\x81\xa7results\x91\x81\xa6series\x91\x82\xa7columns\x91\xa1a".to_vec();
        bytes.extend(b"\xa6values\x91\x91\xd6\x05\x01\x02\x03\x04");
        assert_eq!(given_bytes(&bytes).unwrap(), ["true {} Compound"]);
    }
}
