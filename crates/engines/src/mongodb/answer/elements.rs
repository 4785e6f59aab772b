//! The elements of a document: in sequence, by name, and as text.

use std::fmt;

use super::super::failure::Failure;
use super::{Document, Value, malformed};

/// The elements of a document, each a name and a value.
pub(in super::super) struct Elements<'a>(&'a [u8]);

impl<'a> Iterator for Elements<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, rest) = self.0.split_first()?;
        self.0 = rest;
        let element = self.name().and_then(|name| Some((name, self.value(kind)?)));
        if element.is_none() {
            self.0 = &[];
        }
        Some(element.ok_or_else(malformed))
    }
}

impl<'a> Elements<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes a name up to its NUL, which is also taken.
    fn name(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let name = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(name)
    }

    /// Returns the next length plus `more`.
    fn length(&self, more: i32) -> Option<usize> {
        i32::from_le_bytes(*self.0.first_chunk()?).checked_add(more)?.try_into().ok()
    }

    /// Returns a document, whose length includes itself.
    fn document(&mut self) -> Option<Document<'a>> {
        Document::new(self.take(self.length(0)?)?).ok()
    }

    fn value(&mut self, kind: u8) -> Option<Value<'a>> {
        let skipped = match kind {
            0x01 => return Some(Value::Double(f64::from_le_bytes(*self.array()?))),
            0x02 => {
                return Some(Value::String(self.take(self.length(4)?)?.get(4..)?.split_last()?.1));
            }
            0x03 => return Some(Value::Document(self.document()?)),
            0x04 => return Some(Value::List(self.document()?)),
            // Binary data: a length, a subtype, and the bytes. An old subtype repeats the length,
            // but nothing writes it here.
            0x05 => return Some(Value::Binary(self.take(self.length(5)?)?.get(5..)?)),
            0x06 | 0x0a => return Some(Value::Null),
            0x08 => return Some(Value::Boolean(self.array::<1>()? != &[0])),
            0x09 => return Some(Value::Date(i64::from_le_bytes(*self.array()?))),
            0x10 => return Some(Value::Integer(i32::from_le_bytes(*self.array()?).into())),
            0x12 => return Some(Value::Integer(i64::from_le_bytes(*self.array()?))),
            // An object id.
            0x07 => 12,
            // A timestamp.
            0x11 => 8,
            // A decimal.
            0x13 => 16,
            // A regular expression: two texts.
            0x0b => {
                self.name()?;
                self.name()?;
                0
            }
            // A pointer to a document: a text and an object id.
            0x0c => self.length(16)?,
            // Code and symbols: texts.
            0x0d | 0x0e => self.length(4)?,
            // Code with variables, whose length includes itself.
            0x0f => self.length(0)?,
            // The least and the greatest of all values.
            0xff | 0x7f => 0,
            _ => return None,
        };
        self.take(skipped)?;
        Some(Value::Other(kind))
    }
}

impl<'a> IntoIterator for Document<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Failure>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        Elements(self.0)
    }
}

impl<'a> Document<'a> {
    /// Returns the value with this name. `None` also if the document is malformed before it.
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        let found = self.into_iter().map_while(Result::ok).find(|(n, _)| *n == name.as_bytes());
        found.map(|(_, value)| value)
    }

    /// Returns the value at a path of names separated by dots.
    pub fn at(self, path: &str) -> Option<Value<'a>> {
        match path.split_once('.') {
            Some((name, rest)) => self.get(name)?.as_document()?.at(rest),
            None => self.get(path),
        }
    }

    pub fn text(self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_text()
    }

    /// Returns the number with this name, as an integer.
    pub fn integer(self, name: &str) -> Option<i64> {
        self.get(name)?.as_integer()
    }
}

/// Formats it as MongoDB's tools do, except for types that are never needed.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(flag) => write!(f, "{flag}"),
            Self::Integer(int) => write!(f, "{int}"),
            Self::Double(float) => write!(f, "{float}"),
            Self::String(text) => write!(f, "\"{}\"", String::from_utf8_lossy(text)),
            Self::Document(document) => write!(f, "{document}"),
            Self::List(list) => {
                f.write_str("[")?;
                for (i, (_, value)) in list.into_iter().map_while(Result::ok).enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Binary(_) | Self::Date(_) | Self::Other(_) => f.write_str(self.kind()),
        }
    }
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, (name, value)) in self.into_iter().map_while(Result::ok).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma} \"{}\": {value}", String::from_utf8_lossy(name))?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mongodb::library::library;
    use crate::mongodb::owned::Owned;

    /// One value of each BSON type, followed by a number.
    const KINDS: &str = r#"{
    "double": 0.1, "string": "ü", "document": {"a": {"b": 7}, "c": []}, "list": [1, "x", null],
    "binary": {"$binary": {"base64": "AQID", "subType": "00"}},
    "undefined": {"$undefined": true}, "id": {"$oid": "0123456789abcdef01234567"},
    "boolean": true, "date": {"$date": {"$numberLong": "5"}}, "null": null,
    "regex": {"$regularExpression": {"pattern": "a.*", "options": "i"}},
    "pointer": {"$dbPointer": {"$ref": "b", "$id": {"$oid": "0123456789abcdef01234567"}}},
    "code": {"$code": "f()"}, "symbol": {"$symbol": "s"},
    "scoped": {"$code": "f(x)", "$scope": {"x": 1}}, "int32": -5,
    "timestamp": {"$timestamp": {"t": 1, "i": 2}},
    "int64": {"$numberLong": "-9223372036854775808"}, "decimal": {"$numberDecimal": "0.1"},
    "least": {"$minKey": 1}, "greatest": {"$maxKey": 1}, "end": 42
}"#;

    #[test]
    fn every_kind_of_value_is_read_or_passed_over() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let owned = Owned::of_json(library, KINDS).unwrap();
        let whole = owned.document().unwrap();
        assert!(whole.into_iter().all(|element| element.is_ok()));
        assert_eq!(whole.into_iter().count(), 22);
        assert_eq!(whole.get("double"), Some(Value::Double(0.1)));
        assert_eq!(whole.text("string"), Some("ü"));
        assert_eq!(whole.at("document.a.b"), Some(Value::Integer(7)));
        assert_eq!(whole.at("document.a.b.c"), None);
        assert_eq!(whole.get("document").unwrap().to_string(), r#"{ "a": { "b": 7 }, "c": [] }"#);
        assert_eq!(whole.get("list").unwrap().to_string(), r#"[1, "x", null]"#);
        assert_eq!(whole.get("boolean"), Some(Value::Boolean(true)));
        assert_eq!(whole.get("undefined"), Some(Value::Null));
        assert_eq!(whole.get("null"), Some(Value::Null));
        assert_eq!(whole.integer("int32"), Some(-5));
        assert_eq!(whole.integer("int64"), Some(i64::MIN));
        let decimal = whole.get("decimal").unwrap();
        assert_eq!((decimal.as_float(), decimal.kind()), (None, "Decimal128"));
        assert_eq!(whole.integer("end"), Some(42));
        assert_eq!(whole.get("absent"), None);
        assert_eq!(whole.get("binary"), Some(Value::Binary(&[1, 2, 3])));
        assert_eq!(whole.get("date"), Some(Value::Date(5)));
        for other in ["id", "regex", "pointer", "code", "symbol", "scoped"] {
            assert!(matches!(whole.get(other), Some(Value::Other(_))), "{other}");
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_is_an_error_and_no_more() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let owned = Owned::of_json(library, KINDS).unwrap();
        let bytes = owned.bytes();
        for length in 0..bytes.len() {
            assert!(Document::new(&bytes[..length]).is_err(), "{length}");
            // A document of that length whose last element is truncated.
            let mut cut = bytes[..length].to_vec();
            cut.push(0);
            if let Some(front) = cut.first_chunk_mut() {
                *front = i32::try_from(length + 1).unwrap().to_le_bytes();
                let read = Document::new(&cut).map(|cut| cut.into_iter().count());
                assert!(read.is_ok_and(|count| count <= 22) || length < 4, "{length}");
            }
        }
        for at in 4..bytes.len() {
            let mut broken = bytes.to_vec();
            broken[at] = !broken[at];
            if let Ok(broken) = Document::new(&broken) {
                assert!(broken.to_string().starts_with('{'));
            }
        }
    }
}
