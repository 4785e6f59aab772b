//! Answers: series of rows, read as they arrive, and JSON.

use std::io::BufRead;
use std::ops::Range;

use super::msgpack::{Decoder, Token, invalid};
use super::{NAME, failed};
use crate::http::reader;
use crate::row::ResultRow;
use crate::{EngineError, Result};

/// A value of a row. Texts are stored in the row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Range<usize>),
    Other,
}

/// A row: the tags of its series, then its own values.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Names of the tags and of the columns.
    pub names: Vec<String>,
    pub values: Vec<Value>,
    text: String,
}

impl Row {
    pub fn text(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }
}

/// Finds the places of columns among the names of a row: its values, then its tags, which come
/// before them. Fails when one is missing, and names the existing ones.
pub fn find_columns(columns: &[&str], names: &[String], found: &mut Vec<usize>) -> Result<()> {
    found.clear();
    for column in columns {
        found.push(names.iter().rposition(|name| name == column).ok_or_else(|| {
            let why = format!("the answer has only {}", names.join(", "));
            EngineError::failed(NAME, format!("give the column `{column}`"), why)
        })?);
    }
    Ok(())
}

pub(super) struct SelectedRow<'a> {
    pub row: &'a Row,
    /// Place of each column.
    pub places: &'a [usize],
}

impl SelectedRow<'_> {
    fn value(&self, column: usize) -> Option<&Value> {
        self.row.values.get(*self.places.get(column)?)
    }

    fn wrong_type(&self, column: usize, what: &str) -> EngineError {
        let held = match self.value(column) {
            Some(Value::Text(range)) => format!("{:?}", self.row.text(range)),
            Some(value) => format!("{value:?}"),
            None => "nothing: it was not selected".to_owned(),
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
        match self.value(column) {
            Some(Value::Text(range)) => Ok(Some(self.row.text(range))),
            Some(Value::Null) => Ok(None),
            _ => Err(self.wrong_type(column, "text")),
        }
    }
}

/// Receives a row, and whether its series differs from that of the row before.
pub(super) type Receive<'a> = dyn FnMut(&Row, bool) -> Result<()> + 'a;

/// Reads an answer to its end. It comes in chunks, each a separate value
/// (<https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>, `chunked`):
/// `{"results": [{"series": [{"name", "tags", "columns", "values"}], "partial"}]}`. `partial` means
/// that more follows. `error` is in a result or instead of the results.
pub(super) fn read(input: impl BufRead, receive: &mut Receive<'_>) -> Result<()> {
    let (decoder, row, key) = (Decoder::new(input), Row::default(), String::new());
    Reading { decoder, row, key, partial: false, receive }.chunks()
}

/// Reads an answer that is JSON.
pub(super) fn read_json(answer: ureq::Body) -> Result<serde_json::Value> {
    serde_json::from_reader(reader(answer)).map_err(|error| failed("end its answer", error))
}

fn refused(message: impl ToString) -> EngineError {
    EngineError::failed(NAME, "answer the question", message)
}

struct Reading<'a, 'b, R> {
    decoder: Decoder<R>,
    row: Row,
    key: String,
    partial: bool,
    receive: &'a mut Receive<'b>,
}

impl<R: BufRead> Reading<'_, '_, R> {
    fn chunks(&mut self) -> Result<()> {
        while !self.decoder.at_end()? {
            for _ in 0..self.map()? {
                match self.key()? {
                    "results" => {
                        for _ in 0..self.array()? {
                            self.result()?;
                        }
                    }
                    "error" => return Err(refused(self.string()?)),
                    _ => self.skip_value()?,
                }
            }
        }
        match self.partial {
            true => Err(refused("rows are missing at its end (is max-row-limit set?)")),
            false => Ok(()),
        }
    }

    fn result(&mut self) -> Result<()> {
        self.partial = false;
        for _ in 0..self.map()? {
            match self.key()? {
                "series" => {
                    for _ in 0..self.array()? {
                        self.series()?;
                    }
                }
                "partial" => self.read_partial()?,
                "error" => return Err(refused(self.string()?)),
                _ => self.skip_value()?,
            }
        }
        Ok(())
    }

    fn series(&mut self) -> Result<()> {
        self.row.names.clear();
        self.row.values.clear();
        self.row.text.clear();
        for _ in 0..self.map()? {
            match self.key()? {
                "tags" => {
                    for _ in 0..self.map()? {
                        let name = self.string()?;
                        self.row.names.insert(self.row.values.len(), name);
                        let value = self.value()?;
                        self.row.values.push(value);
                    }
                }
                "columns" => {
                    for _ in 0..self.array()? {
                        let column = self.string()?;
                        self.row.names.push(column);
                    }
                }
                "values" => self.rows()?,
                "partial" => self.read_partial()?,
                _ => self.skip_value()?,
            }
        }
        Ok(())
    }

    fn rows(&mut self) -> Result<()> {
        let (tags, text) = (self.row.values.len(), self.row.text.len());
        for n in 0..self.array()? {
            let width = self.array()?;
            if tags + width != self.row.names.len() {
                return Err(invalid("a row that is not as wide as its columns"));
            }
            self.row.values.truncate(tags);
            self.row.text.truncate(text);
            for _ in 0..width {
                let value = self.value()?;
                self.row.values.push(value);
            }
            (self.receive)(&self.row, n == 0)?;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value> {
        Ok(match self.decoder.token()? {
            Token::Nil => Value::Null,
            Token::Bool(value) => Value::Bool(value),
            Token::Int(value) => Value::Int(value),
            Token::Float(value) => Value::Float(value),
            Token::Text(bytes) => {
                let begin = self.row.text.len();
                self.decoder.text(bytes, &mut self.row.text)?;
                Value::Text(begin..self.row.text.len())
            }
            token => {
                self.decoder.skip(token)?;
                Value::Other
            }
        })
    }

    fn read_partial(&mut self) -> Result<()> {
        match self.decoder.token()? {
            Token::Bool(more) => self.partial |= more,
            token => self.decoder.skip(token)?,
        }
        Ok(())
    }

    fn map(&mut self) -> Result<usize> {
        match self.decoder.token()? {
            Token::Map(keys) => Ok(keys),
            _ => Err(invalid("another value instead of a map")),
        }
    }

    fn array(&mut self) -> Result<usize> {
        match self.decoder.token()? {
            Token::Array(items) => Ok(items),
            Token::Nil => Ok(0),
            _ => Err(invalid("another value instead of a list")),
        }
    }

    fn key(&mut self) -> Result<&str> {
        self.key.clear();
        text(&mut self.decoder, &mut self.key)?;
        Ok(&self.key)
    }

    fn string(&mut self) -> Result<String> {
        let mut string = String::new();
        text(&mut self.decoder, &mut string)?;
        Ok(string)
    }

    fn skip_value(&mut self) -> Result<()> {
        let token = self.decoder.token()?;
        self.decoder.skip(token)
    }
}

fn text(decoder: &mut Decoder<impl BufRead>, to: &mut String) -> Result<()> {
    match decoder.token()? {
        Token::Text(bytes) => decoder.text(bytes, to),
        _ => Err(invalid("another value instead of a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `{"results": [{"series": [{"columns": ["a"], "values": [[…]]}]}]}` with these bytes
    /// as a value.
    fn answer(value: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x81\xa7results\x91\x81\xa6series\x91\x82\xa7columns\x91\xa1a".to_vec();
        bytes.extend(b"\xa6values\x91\x91");
        bytes.extend(value);
        bytes
    }

    /// Returns the values, each with its text if it is one.
    fn values(bytes: &[u8]) -> Result<Vec<(Value, String)>> {
        let mut all = Vec::new();
        read(bytes, &mut |row, _| {
            let text = |value: &Value| match value {
                Value::Text(range) => row.text(range).to_owned(),
                _ => String::new(),
            };
            all.extend(row.values.iter().map(|value| (value.clone(), text(value))));
            Ok(())
        })
        .map(|()| all)
    }

    fn one(bytes: &[u8]) -> Result<Value> {
        values(&answer(bytes)).map(|mut values| values.remove(0).0)
    }

    #[test]
    fn unknown_values_are_skipped_and_incomplete_answers_are_errors() {
        // [{"a": [nil, true]}, an extension of four bytes, 1].
        let other = [0x93, 0x81, 0xa1, b'a', 0x92, 0xc0, 0xc3, 0xd6, 5, 1, 2, 3, 4, 1];
        assert_eq!(one(&other).unwrap(), Value::Other);
        for other in [&other[7..13], &[0xc4, 2, 1, 2]] {
            assert_eq!(one(other).unwrap(), Value::Other);
        }
        assert_eq!(one(&[0xc0]).unwrap(), Value::Null);
        // One chunk after another.
        let two = [answer(&[0xa2, b'b', b'c']), answer(&[0xc3])].concat();
        let expected = [(Value::Text(0..2), "bc".to_owned()), (Value::Bool(true), String::new())];
        assert_eq!(values(&two).unwrap(), expected);
        for end in 1..two.len() {
            assert_eq!(values(&two[..end]).is_ok(), end == two.len() / 2 + 1, "{end}");
        }
        // A row of two values, under one column.
        let wide = [&answer(&[])[..answer(&[]).len() - 1], &[0x92, 1, 2]].concat();
        assert!(values(&wide).unwrap_err().to_string().contains("not as wide as"));
    }

    #[test]
    fn errors_and_incomplete_results_are_reported() {
        for bytes in [&b"\x81\xa5error\xa3bad"[..], b"\x81\xa7results\x91\x81\xa5error\xa3bad"] {
            let error = values(bytes).unwrap_err().to_string();
            assert_eq!(error, "influxdb could not answer the question: bad");
        }
        let error = values(b"\x81\xa7results\x91\x81\xa7partial\xc3").unwrap_err().to_string();
        assert!(error.contains("max-row-limit"), "{error}");
    }
}
