//! Answers to queries: series of rows, read as they arrive.

use std::io::{self, BufRead};
use std::ops::Range;

use super::NAME;
use super::msgpack::{Decoder, Token, invalid};
use crate::{EngineError, Result};

/// What the following rows have in common.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Name of the measurement, or of the section of a list.
    pub name: String,
    /// Tags of the group, by name.
    pub tags: Vec<(String, String)>,
    pub columns: Vec<String>,
}

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

/// Values of a row, in the order of its series' columns.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub values: Vec<Value>,
    text: String,
}

impl Row {
    pub fn text(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }
}

/// Receives a row, whether its series differs from that of the row before, and the series.
pub(super) type Receive<'a> = dyn FnMut(&Row, bool, &Series) -> Result<()> + 'a;

/// Reads an answer to its end. It comes in chunks, each a separate value
/// (<https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>, `chunked`):
/// `{"results": [{"series": [{"name", "tags", "columns", "values"}], "partial"}]}`. `partial` means
/// that more follows. `error` is in a result or instead of the results.
pub(super) fn read(input: impl BufRead, receive: &mut Receive<'_>) -> Result<()> {
    let mut reading = Reading {
        decoder: Decoder::new(input),
        series: Series::default(),
        row: Row::default(),
        key: String::new(),
        partial: false,
        receive,
    };
    let answered = reading.chunks();
    answered.map_err(|stop| match stop {
        Stop::Read(error) => EngineError::failed(NAME, "end its answer", error),
        Stop::Server(message) => EngineError::failed(NAME, "answer the question", message),
        Stop::Receiver(error) => error,
    })
}

enum Stop {
    Read(io::Error),
    Server(String),
    Receiver(EngineError),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

type Read<T = ()> = std::result::Result<T, Stop>;

struct Reading<'a, 'b, R> {
    decoder: Decoder<R>,
    series: Series,
    row: Row,
    key: String,
    partial: bool,
    receive: &'a mut Receive<'b>,
}

impl<R: BufRead> Reading<'_, '_, R> {
    fn chunks(&mut self) -> Read {
        while !self.decoder.at_end()? {
            for _ in 0..self.map()? {
                match self.key()? {
                    "results" => {
                        for _ in 0..self.array()? {
                            self.result()?;
                        }
                    }
                    "error" => return Err(Stop::Server(self.string()?)),
                    _ => self.skip_value()?,
                }
            }
        }
        match self.partial {
            true => Err(Stop::Server("rows are missing at its end (is max-row-limit set?)".into())),
            false => Ok(()),
        }
    }

    fn result(&mut self) -> Read {
        self.partial = false;
        for _ in 0..self.map()? {
            match self.key()? {
                "series" => {
                    for _ in 0..self.array()? {
                        self.series()?;
                    }
                }
                "partial" => self.read_partial()?,
                "error" => return Err(Stop::Server(self.string()?)),
                _ => self.skip_value()?,
            }
        }
        Ok(())
    }

    fn series(&mut self) -> Read {
        self.series.name.clear();
        self.series.tags.clear();
        self.series.columns.clear();
        for _ in 0..self.map()? {
            match self.key()? {
                "name" => self.series.name = self.string()?,
                "tags" => {
                    for _ in 0..self.map()? {
                        let tag = (self.string()?, self.string()?);
                        self.series.tags.push(tag);
                    }
                }
                "columns" => {
                    for _ in 0..self.array()? {
                        let column = self.string()?;
                        self.series.columns.push(column);
                    }
                }
                "values" => self.rows()?,
                "partial" => self.read_partial()?,
                _ => self.skip_value()?,
            }
        }
        Ok(())
    }

    fn rows(&mut self) -> Read {
        let rows = self.array()?;
        for n in 0..rows {
            let width = self.array()?;
            if width != self.series.columns.len() {
                return Err(invalid("a row that is not as wide as its columns").into());
            }
            self.row.values.clear();
            self.row.text.clear();
            for _ in 0..width {
                let value = self.value()?;
                self.row.values.push(value);
            }
            (self.receive)(&self.row, n == 0, &self.series).map_err(Stop::Receiver)?;
        }
        Ok(())
    }

    fn value(&mut self) -> Read<Value> {
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

    fn read_partial(&mut self) -> Read {
        match self.decoder.token()? {
            Token::Bool(more) => self.partial |= more,
            token => self.decoder.skip(token)?,
        }
        Ok(())
    }

    fn map(&mut self) -> Read<usize> {
        match self.decoder.token()? {
            Token::Map(keys) => Ok(keys),
            _ => Err(invalid("another value instead of a map").into()),
        }
    }

    fn array(&mut self) -> Read<usize> {
        match self.decoder.token()? {
            Token::Array(items) => Ok(items),
            Token::Nil => Ok(0),
            _ => Err(invalid("another value instead of a list").into()),
        }
    }

    fn key(&mut self) -> Read<&str> {
        self.key.clear();
        text(&mut self.decoder, &mut self.key)?;
        Ok(&self.key)
    }

    fn string(&mut self) -> Read<String> {
        let mut string = String::new();
        text(&mut self.decoder, &mut string)?;
        Ok(string)
    }

    fn skip_value(&mut self) -> Read {
        let token = self.decoder.token()?;
        Ok(self.decoder.skip(token)?)
    }
}

fn text(decoder: &mut Decoder<impl BufRead>, to: &mut String) -> io::Result<()> {
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
        read(bytes, &mut |row, _, _| {
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
