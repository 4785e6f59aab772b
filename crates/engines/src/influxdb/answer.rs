//! Answers to questions: series of rows in MessagePack, read chunk by chunk as they come.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::NAME;
use crate::{EngineError, Result};

/// A chunk: <https://docs.influxdata.com/influxdb/v1.8/tools/api/#query-string-parameters-1>,
/// `chunked`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    results: Vec<Part>,
    error: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    series: Vec<Series>,
    /// Whether more follows.
    partial: bool,
    error: Option<String>,
}

/// Rows, and what they have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Series {
    /// Tags of the group, by name.
    pub tags: BTreeMap<String, String>,
    /// Names of the values of each row.
    pub columns: Vec<String>,
    #[serde(rename = "values")]
    pub rows: Vec<Vec<Value>>,
    partial: bool,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Other,
}

/// What serde gives.
type Read<T, E> = std::result::Result<T, E>;

/// Reads an answer to its end.
///
/// # Errors
/// The engine's, in whatever chunk; that of `receive`; an answer that breaks off.
pub(super) fn read(
    mut input: impl BufRead,
    receive: &mut dyn FnMut(&Series) -> Result<()>,
) -> Result<()> {
    let broken = |why: String| EngineError::failed(NAME, "end its answer", why);
    let said = |error: Option<String>| match error {
        Some(message) => Err(EngineError::failed(NAME, "answer the question", message)),
        None => Ok(()),
    };
    let mut more = false;
    while !input.fill_buf().map_err(|error| broken(error.to_string()))?.is_empty() {
        let chunk = rmp_serde::from_read(&mut input).map_err(|error| broken(error.to_string()));
        let Chunk { results, error } = chunk?;
        said(error)?;
        for Part { series, partial, error } in results {
            said(error)?;
            more = partial;
            for series in series {
                if series.rows.iter().any(|row| row.len() != series.columns.len()) {
                    return Err(broken("a row is not as wide as its columns".to_owned()));
                }
                more |= series.partial;
                receive(&series)?;
            }
        }
    }
    said(more.then(|| "rows are missing at its end (is max-row-limit set?)".to_owned()))
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Read<Self, D::Error> {
        value.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Read<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Read<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Read<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Read<Value, E> {
        let above = |_| E::custom("an integer above 63 bits");
        i64::try_from(value).map(Value::Int).map_err(above)
    }

    fn visit_f64<E>(self, value: f64) -> Read<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Read<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Read<Value, E> {
        Ok(Value::Other)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, extension: D) -> Read<Value, D::Error> {
        IgnoredAny::deserialize(extension).map(|_| Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Read<Value, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Read<Value, A::Error> {
        IgnoredAny.visit_map(map).map(|_| Value::Other)
    }
}

#[cfg(test)]
mod tests;
