//! Answers, which are BSON (<https://bsonspec.org/spec.html>), read in place.

use std::fmt;

use super::elements::{Elements, malformed};
use super::failure::Failure;

/// Type number of a decimal, which nothing stored here has.
const DECIMAL: u8 = 0x13;

/// A document or a list: its elements, without its length and its end mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Document<'a>(&'a [u8]);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Null, or undefined, an older name for it.
    Null,
    Boolean(bool),
    /// An integer of 32 or 64 bits.
    Integer(i64),
    Double(f64),
    /// Bytes, which are only decoded if a text is wanted.
    String(&'a [u8]),
    Binary(&'a [u8]),
    /// Milliseconds since 1970-01-01 UTC.
    Date(i64),
    Document(Document<'a>),
    List(Document<'a>),
    /// A type that is never needed, by its number.
    Other(u8),
}

impl<'a> Document<'a> {
    /// Returns these bytes as a document.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Failure> {
        let length = bytes.first_chunk().map(|bytes| i32::from_le_bytes(*bytes));
        match (length.map(usize::try_from), bytes) {
            (Some(Ok(length)), [_, _, _, _, elements @ .., 0]) if length == bytes.len() => {
                Ok(Self(elements))
            }
            _ => Err(malformed()),
        }
    }

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

impl<'a> Value<'a> {
    pub fn as_document(self) -> Option<Document<'a>> {
        if let Self::Document(document) = self { Some(document) } else { None }
    }

    pub fn as_list(self) -> Option<Document<'a>> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    /// Returns a text, or `None` if it is not UTF-8.
    pub fn as_text(self) -> Option<&'a str> {
        let Self::String(text) = self else { return None };
        std::str::from_utf8(text).ok()
    }

    /// Returns an integer, or a double without a fraction, because the server and pipelines also
    /// count in doubles.
    pub fn as_integer(self) -> Option<i64> {
        /// 2^63, the first double above every 64-bit integer.
        const END: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Integer(int) => Some(int),
            Self::Double(float) if float.fract() == 0.0 && (-END..END).contains(&float) => {
                Some(float as i64)
            }
            _ => None,
        }
    }

    /// Returns an integer or a double.
    pub fn as_float(self) -> Option<f64> {
        match self {
            Self::Double(float) => Some(float),
            Self::Integer(int) => Some(int as f64),
            _ => None,
        }
    }

    /// Returns its type, in BSON's terms.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Double(_) => "Double",
            Self::String(_) => "String",
            Self::Binary(_) => "Binary",
            Self::Date(_) => "UTC datetime",
            Self::Document(_) => "Document",
            Self::List(_) => "Array",
            Self::Other(DECIMAL) => "Decimal128",
            Self::Other(_) => "Value of another type",
        }
    }
}

impl<'a> IntoIterator for Document<'a> {
    type Item = Result<(&'a [u8], Value<'a>), Failure>;
    type IntoIter = Elements<'a>;

    fn into_iter(self) -> Elements<'a> {
        Elements::new(self.0)
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
    use super::super::library::library;
    use super::super::owned::Owned;
    use super::*;

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

    #[test]
    fn a_double_is_an_integer_where_it_has_no_fraction_and_is_in_range() {
        let int = |float| Value::Double(float).as_integer();
        assert_eq!((int(-3.0), int(0.5), int(f64::NAN)), (Some(-3), None, None));
        assert_eq!(int(-9_223_372_036_854_775_808.0), Some(i64::MIN));
        assert_eq!(int(9_223_372_036_854_775_808.0), None);
    }
}
