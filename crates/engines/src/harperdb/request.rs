//! Requests to HarperDB's operations API, written as JSON.

use std::io::Write;

use serde::Serialize;

use super::NAME;
use crate::document::{Field, Value};
use crate::{EngineError, Result};

/// The largest integer such that it and all smaller ones, of either sign, are exact as JavaScript
/// numbers.
pub(super) const EXACT: i64 = 1 << 53;

/// The body of an operation; its memory is reused for the next one.
#[derive(Default)]
pub(super) struct Request {
    pub body: Vec<u8>,
}

impl Request {
    /// Begins the body of an operation on a table.
    pub fn begin(&mut self, operation: &str, database: &str, table: &str) -> &mut Self {
        // Names consist of letters, digits and underscores, so nothing needs escaping.
        let this = self.begin_plain(operation).raw(",\"database\":\"").raw(database);
        this.raw("\",\"table\":\"").raw(table).raw("\"")
    }

    /// Writes the whole body of an operation on no table.
    pub fn plain(&mut self, operation: &str) {
        self.begin_plain(operation).raw("}");
    }

    /// Begins the body of an operation on no table.
    pub fn begin_plain(&mut self, operation: &str) -> &mut Self {
        self.body.clear();
        self.raw("{\"operation\":\"").raw(operation).raw("\"")
    }

    /// Appends a piece of JSON as it is.
    pub fn raw(&mut self, json: &str) -> &mut Self {
        self.body.extend_from_slice(json.as_bytes());
        self
    }

    /// Appends a text, a number, or a list of texts.
    pub fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        wrote(serde_json::to_writer(&mut self.body, value));
        self
    }

    /// Appends fields of an object that has members before them.
    pub fn fields<'a>(&mut self, fields: impl IntoIterator<Item = Field<'a>>) -> Result<()> {
        for (name, of) in fields {
            self.raw(",").json(name).raw(":");
            write_value(&mut self.body, of)?;
        }
        Ok(())
    }
}

/// Writes a value. Doubles are written with the digits that read back as the same double. Fails for
/// an integer that a JavaScript number cannot represent, and for a double that JSON cannot.
pub(super) fn write_value(out: &mut Vec<u8>, of: Value<'_>) -> Result<()> {
    match of {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Int(int) if (-EXACT..=EXACT).contains(&int) => wrote(write!(out, "{int}")),
        Value::Int(int) => {
            let what = format!("the integer {int}: its numbers are doubles, exact up to 53 bits");
            return Err(EngineError::unsupported(NAME, what));
        }
        Value::Float(float) if float.is_finite() => wrote(serde_json::to_writer(out, &float)),
        Value::Float(float) => {
            return Err(EngineError::unsupported(NAME, format!("the number {float}")));
        }
        Value::Text(text) => write_string(out, text),
        Value::Bytes(_) => return Err(EngineError::unsupported(NAME, "bytes: JSON has none")),
        Value::Date(_) => return Err(EngineError::unsupported(NAME, "dates: JSON has none")),
        Value::List(values) => {
            out.push(b'[');
            for (n, of) in values.iter().enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b"," });
                write_value(out, *of)?;
            }
            out.push(b']');
        }
        Value::Fields(fields) => {
            out.push(b'{');
            for (n, (name, of)) in fields.iter().enumerate() {
                out.extend_from_slice(if n == 0 { b"" } else { b"," });
                write_string(out, name);
                out.push(b':');
                write_value(out, *of)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// Writes a string, quoted and escaped.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    wrote(serde_json::to_writer(out, text));
}

/// Takes the result of writing into memory, which cannot fail.
fn wrote<E>(result: std::result::Result<(), E>) {
    debug_assert!(result.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(of: Value<'_>) -> Result<String> {
        let mut out = Vec::new();
        write_value(&mut out, of).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_read_back_as_they_were() {
        for float in [0.1 + 0.2, 1e-320, f64::MAX, -0.0, 1e22] {
            let text = written(Value::Float(float)).unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), float.to_bits(), "{text}");
        }
        let nested = [Value::Null, Value::Text("a\"\\\n\u{1}ü")];
        let fields = [("list", Value::List(&nested)), ("n", Value::Int(-EXACT))];
        let text = written(Value::Fields(&fields)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["list"][1], "a\"\\\n\u{1}ü");
        assert_eq!(json["n"], -EXACT);
    }

    #[test]
    fn values_that_a_javascript_number_cannot_represent_are_refused() {
        for of in [Value::Int(EXACT + 1), Value::Int(i64::MIN), Value::Float(f64::NAN)] {
            assert!(written(of).unwrap_err().is_unsupported(), "{of:?}");
        }
    }
}
