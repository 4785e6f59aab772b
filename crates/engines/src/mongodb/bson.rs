//! Writes commands and documents as BSON (<https://bsonspec.org/spec.html>), directly from borrowed
//! values.

use itoa::Buffer;

use super::failure::Failure;
use crate::document::{Field, Value};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
pub(super) const ARRAY: u8 = 0x04;
const BINARY: u8 = 0x05;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const NULL: u8 = 0x0a;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// A document that is being written.
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Names end with a NUL, so none can contain one.
    has_bad_name: bool,
}

/// A document or list that was begun, and must be [`end`](Writer::end)ed.
#[must_use]
pub(super) struct OpenElement(usize);

impl Writer {
    /// Creates an empty document with this capacity in bytes.
    pub fn new(capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend([0; 4]);
        Self { bytes, has_bad_name: false }
    }

    /// Clears it, and keeps its capacity.
    pub fn clear(&mut self) {
        self.bytes.truncate(4);
        self.has_bad_name = false;
    }

    /// Returns the number of bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Ends the document and returns its bytes. It must be cleared before anything else is written.
    pub fn finish(&mut self) -> Result<&[u8], Failure> {
        self.end(OpenElement(0));
        match self.has_bad_name {
            true => Err(Failure::new("a field's name may hold no NUL")),
            false => Ok(&self.bytes),
        }
    }

    /// Writes a nested document with `write`.
    pub fn within(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let document = self.begin_within(name);
        write(self);
        self.end(document);
    }

    /// Writes a nested list with `write`. Its elements are named by their numbers.
    pub fn list(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let list = self.begin_list(name);
        write(self);
        self.end(list);
    }

    /// Begins a nested document that is written in several steps.
    pub fn begin_within(&mut self, name: &str) -> OpenElement {
        self.name(DOCUMENT, name);
        self.begin()
    }

    /// Begins a nested list that is written in several steps.
    pub fn begin_list(&mut self, name: &str) -> OpenElement {
        self.name(ARRAY, name);
        self.begin()
    }

    pub fn end(&mut self, begun: OpenElement) {
        self.bytes.push(0);
        let length = length(self.bytes.len() - begun.0);
        self.bytes[begun.0..begun.0 + 4].copy_from_slice(&length);
    }

    pub fn bool(&mut self, name: &str, value: bool) {
        self.name(BOOLEAN, name);
        self.bytes.push(u8::from(value));
    }

    pub fn int32(&mut self, name: &str, value: i32) {
        self.name(INT32, name);
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn int64(&mut self, name: &str, value: i64) {
        self.name(INT64, name);
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.name(STRING, name);
        self.bytes.extend(length(value.len() + 1));
        self.bytes.extend(value.as_bytes());
        self.bytes.push(0);
    }

    /// Appends encoded elements, including their names.
    pub fn elements(&mut self, elements: &[u8]) {
        self.bytes.extend(elements);
    }

    /// Appends the elements of another document.
    pub fn elements_of(&mut self, other: &Self) {
        self.elements(&other.bytes[4..]);
        self.has_bad_name |= other.has_bad_name;
    }

    pub fn value(&mut self, name: &str, value: &Value<'_>) {
        match *value {
            Value::Null => self.name(NULL, name),
            Value::Int(int) => self.int64(name, int),
            Value::Float(float) => {
                self.name(DOUBLE, name);
                self.bytes.extend(float.to_le_bytes());
            }
            Value::Text(text) => self.text(name, text),
            Value::Bytes(bytes) => {
                self.name(BINARY, name);
                self.bytes.extend(length(bytes.len()));
                // The generic subtype.
                self.bytes.push(0);
                self.bytes.extend(bytes);
            }
            Value::Date(ms) => {
                self.name(DATE, name);
                self.bytes.extend(ms.to_le_bytes());
            }
            Value::List(values) => self.list(name, |list| {
                for (i, value) in values.iter().enumerate() {
                    list.value(Buffer::new().format(i), value);
                }
            }),
            Value::Fields(fields) => self.within(name, |within| within.fields(fields)),
        }
    }

    /// Writes each field, also those that are NULL.
    pub fn fields(&mut self, fields: &[Field<'_>]) {
        for (name, value) in fields {
            self.value(name, value);
        }
    }

    fn begin(&mut self) -> OpenElement {
        let at = self.bytes.len();
        self.bytes.extend([0; 4]);
        OpenElement(at)
    }

    fn name(&mut self, of_type: u8, name: &str) {
        self.has_bad_name |= name.as_bytes().contains(&0);
        self.bytes.push(of_type);
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
    }
}

/// 2 GiB are far above any document that MongoDB accepts (16 MiB), which would refuse it.
fn length(bytes: usize) -> [u8; 4] {
    i32::try_from(bytes).unwrap_or(i32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::library::library;
    use super::super::owned::Owned;
    use super::*;

    #[test]
    fn what_is_written_is_what_the_driver_makes_of_the_same_in_json() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let mut writer = Writer::new(0);
        writer.text("find", "réadings");
        let list: Vec<_> = (0..12).map(Value::Int).collect();
        let fields = [
            ("none", Value::Null),
            ("min", Value::Int(i64::MIN)),
            ("tenth", Value::Float(0.1)),
            ("list", Value::List(&list)),
            ("in", Value::Fields(&[("", Value::Text("")), ("deep", Value::List(&[]))])),
        ];
        writer.within("filter", |filter| filter.fields(&fields));
        writer.bool("singleBatch", true);
        writer.int32("limit", -1);
        let list: Vec<_> = (0..12).map(|n| format!(r#"{{"$numberLong": "{n}"}}"#)).collect();
        let json = format!(
            r#"{{"find": "réadings", "filter": {{"none": null,
            "min": {{"$numberLong": "-9223372036854775808"}}, "tenth": 0.1, "list": [{}],
            "in": {{"": "", "deep": []}}}}, "singleBatch": true, "limit": -1}}"#,
            list.join(", ")
        );
        let expected = Owned::of_json(library, &json).unwrap();
        assert_eq!(writer.finish().unwrap(), expected.bytes());
    }

    #[test]
    fn a_name_with_an_end_in_it_is_refused() {
        let mut inner = Writer::new(0);
        inner.fields(&[("a\0b", Value::Int(1))]);
        let mut writer = Writer::new(0);
        writer.elements_of(&inner);
        assert!(writer.finish().is_err());
        inner.clear();
        assert!(inner.finish().is_ok());
    }
}
