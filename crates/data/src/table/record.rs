//! What readers of files hand out, and who takes it.

use std::collections::HashMap;

use embermark_model::choice::{UnknownName, unknown};

use super::fault::Fault;
use crate::DataError;

/// Different fields that the lines of a JSON file may have; those after them are passed over.
const FIELDS: usize = 4096;

/// What a file has in a field of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// Nothing: an empty field of CSV, null, or no such field in this record.
    Absent,
    /// A text, or a value in its text: all of CSV, and all but null of JSON.
    Text(&'a [u8]),
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A time since 1970 in UTC, in a unit of which so many are a second.
    Time {
        value: i64,
        per_second: i64,
    },
}

/// A record of a file.
pub(super) trait Record {
    /// What stands in the field at a place of [`Names`].
    fn field(&self, place: usize) -> Field<'_>;

    /// The fields that it has, or more.
    fn width(&self) -> usize;

    /// Its line, or its number in a file without lines; from 1.
    fn line(&self) -> u64;
}

/// Takes the records of a file.
pub(super) trait Sink {
    /// Is told the fields before the first record, and says which it wants.
    fn begin(&mut self, names: &mut Names) -> Result<(), UnknownName>;

    /// Takes a record; says whether it wants more.
    fn record<R: Record>(&mut self, record: &R) -> Result<bool, DataError>;

    /// Is told of a line that is no record.
    fn broken(&mut self, line: u64, fault: Fault, found: &[u8]);
}

/// The fields of a file by place.
#[derive(Debug, Default)]
pub(super) struct Names {
    fields: Vec<Named>,
    places: HashMap<String, usize>,
    /// Whether more fields may come to light as records are read.
    open: bool,
    /// Whether all fields are wanted, those too that come to light later.
    all: bool,
}

#[derive(Debug)]
struct Named {
    name: String,
    wanted: bool,
    /// Whether the file has it, as far as was read.
    found: bool,
}

impl Names {
    /// The names of a file that says them first.
    pub(super) fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut all = Self::default();
        for name in names {
            all.add(name, true);
        }
        all
    }

    /// The names of a file of which each record says its own.
    pub(super) fn open() -> Self {
        Self { open: true, ..Self::default() }
    }

    fn add(&mut self, name: String, found: bool) -> usize {
        let place = self.fields.len();
        self.places.entry(name.clone()).or_insert(place);
        self.fields.push(Named { name, wanted: self.all, found });
        place
    }

    /// The place of a field that is wanted.
    ///
    /// # Errors
    /// Where the file has no such field.
    pub(super) fn want(&mut self, name: &str) -> Result<usize, UnknownName> {
        let place = match self.places.get(name) {
            Some(&place) => place,
            None if self.open => self.add(name.to_owned(), false),
            None => return Err(self.unknown(name)),
        };
        self.fields[place].wanted = true;
        Ok(place)
    }

    /// Wants all fields.
    pub(super) fn want_all(&mut self) {
        self.all = true;
        for field in &mut self.fields {
            field.wanted = true;
        }
    }

    pub(super) fn is_wanted(&self, place: usize) -> bool {
        self.fields[place].wanted
    }

    /// The place of a field that a record has, which is likely to be `expected`.
    #[inline]
    pub(super) fn find(&mut self, name: &str, expected: usize) -> Option<usize> {
        let place = match self.fields.get(expected) {
            Some(field) if field.name == name => expected,
            _ => match self.places.get(name) {
                Some(&place) => place,
                None if self.fields.len() < FIELDS => self.add(name.to_owned(), true),
                None => return None,
            },
        };
        self.fields[place].found = true;
        Some(place)
    }

    /// The names by place.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// # Errors
    /// Where a field is wanted that no record had, though there were records with fields.
    pub(super) fn never_found(&self) -> Result<(), UnknownName> {
        let missed = self.fields.iter().find(|field| field.wanted && !field.found);
        match missed.filter(|_| self.fields.iter().any(|field| field.found)) {
            Some(field) => Err(self.unknown(&field.name)),
            None => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> UnknownName {
        let found = self.fields.iter().filter(|field| field.found);
        unknown("field", name, found.map(|field| &field.name))
    }
}
