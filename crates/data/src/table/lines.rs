//! Reads JSON lines: an object in each line, whose fields are those of a row. What is nested in a
//! field is handed out as its JSON text.

use std::fmt;
use std::io::{BufRead, BufReader};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::Fault;
use super::record::{Field, Names, Record, Sink};
use super::source::Source;
use crate::DataError;

/// Text that is read at once.
const PIECE: usize = 256 * 1024;

pub(super) fn read(source: &Source, sink: &mut impl Sink) -> Result<Names, DataError> {
    let mut names = Names::open();
    sink.begin(&mut names).map_err(|unknown| source.no_field(unknown))?;
    let mut text = BufReader::with_capacity(PIECE, source.text());
    let mut object = Object::default();
    loop {
        object.line += 1;
        object.text.clear();
        match text.read_until(b'\n', &mut object.text) {
            Ok(0) => break,
            Ok(_) => {}
            Err(cause) => return Err(source.unreadable(cause, text.get_ref().bytes)),
        }
        if object.line == 1 && object.text.starts_with(b"\xef\xbb\xbf") {
            object.text.drain(..3);
        }
        if object.text.trim_ascii().is_empty() {
            continue;
        }
        if object.parse(&mut names).is_err() {
            sink.broken(object.line, Fault::NotAnObject, &object.text);
        } else if !sink.record(&object)? {
            return Ok(names);
        }
    }
    names.never_found().map_err(|unknown| source.no_field(unknown))?;
    Ok(names)
}

/// The object of a line.
#[derive(Debug, Default)]
struct Object {
    line: u64,
    text: Vec<u8>,
    /// By place what its fields hold.
    fields: Vec<Held>,
    /// Strings of the line in which something is escaped, without that.
    unescaped: Vec<u8>,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
enum Held {
    Nothing,
    /// From and to where in the text of the line.
    Text(usize, usize),
    /// From and to where in the unescaped strings.
    Unescaped(usize, usize),
}

impl Record for Object {
    #[inline]
    fn field(&self, place: usize) -> Field<'_> {
        match self.fields.get(place) {
            None | Some(Held::Nothing) => Field::Absent,
            Some(&Held::Text(from, to)) => Field::Text(&self.text[from..to]),
            Some(&Held::Unescaped(from, to)) => Field::Text(&self.unescaped[from..to]),
        }
    }

    fn width(&self) -> usize {
        self.fields.len()
    }

    fn line(&self) -> u64 {
        self.line
    }
}

impl Object {
    /// Finds the fields in the text of the line.
    fn parse(&mut self, names: &mut Names) -> serde_json::Result<()> {
        self.fields.clear();
        self.unescaped.clear();
        let mut line = serde_json::Deserializer::from_slice(&self.text);
        let fields = Fields {
            names,
            begin: self.text.as_ptr() as usize,
            fields: &mut self.fields,
            unescaped: &mut self.unescaped,
        };
        (&mut line).deserialize_map(fields)?;
        line.end()
    }
}

/// Takes the fields of an object.
struct Fields<'a> {
    names: &'a mut Names,
    /// The address of the line.
    begin: usize,
    fields: &'a mut Vec<Held>,
    unescaped: &'a mut Vec<u8>,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut expected = 0;
        while let Some(place) = object.next_key_seed(Key { names: self.names, expected })? {
            expected = place.map_or(0, |place| place + 1);
            let Some(place) = place.filter(|&place| self.names.is_wanted(place)) else {
                object.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw = object.next_value::<&RawValue>()?.get();
            // The value is a part of the line.
            let at = raw.as_ptr() as usize - self.begin;
            let held = match raw.as_bytes() {
                b"null" => Held::Nothing,
                [b'"', string @ .., b'"'] if memchr::memchr(b'\\', string).is_none() => {
                    Held::Text(at + 1, at + 1 + string.len())
                }
                [b'"', ..] => {
                    let string: String =
                        serde_json::from_str(raw).map_err(serde::de::Error::custom)?;
                    let from = self.unescaped.len();
                    self.unescaped.extend_from_slice(string.as_bytes());
                    Held::Unescaped(from, self.unescaped.len())
                }
                _ => Held::Text(at, at + raw.len()),
            };
            if self.fields.len() <= place {
                self.fields.resize(place + 1, Held::Nothing);
            }
            self.fields[place] = held;
        }
        Ok(())
    }
}

/// Takes the name of a field; gives its place.
struct Key<'a> {
    names: &'a mut Names,
    expected: usize,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Option<usize>, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.names.find(name, self.expected))
    }
}
