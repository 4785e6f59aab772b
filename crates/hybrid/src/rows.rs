//! Pairs of the front that become rows of the mirror.

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, Rows, SqlStore, TableDef};
use embermark_contract::{EngineError, Result};

use crate::NAME;

/// Pairs, or only keys, one after the other.
#[derive(Default)]
pub(crate) struct Pairs {
    bytes: Vec<u8>,
    /// For each the length of its key, and where its value ends.
    places: Vec<(u32, usize)>,
}

/// What a pair is converted to.
#[derive(Clone, Copy)]
enum Part {
    /// Its row.
    Whole,
    /// The columns of its key.
    Key,
    /// The columns of its key and a number of 32 bits, which is its value.
    Numbered,
}

impl Pairs {
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.places.push((key.len() as u32, self.bytes.len()));
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Loads the rows into a table of the mirror.
    pub(crate) fn load(
        &self,
        sql: &mut dyn SqlStore,
        table: &TableDef,
        decode: &dyn Decode,
    ) -> Result<()> {
        self.load_as(Part::Whole, sql, table, decode)
    }

    /// Loads the columns of the keys.
    pub(crate) fn load_keys(
        &self,
        sql: &mut dyn SqlStore,
        table: &TableDef,
        decode: &dyn Decode,
    ) -> Result<()> {
        self.load_as(Part::Key, sql, table, decode)
    }

    /// Loads the columns of the keys and the number that each value is.
    pub(crate) fn load_numbered(
        &self,
        sql: &mut dyn SqlStore,
        table: &TableDef,
        decode: &dyn Decode,
    ) -> Result<()> {
        self.load_as(Part::Numbered, sql, table, decode)
    }

    fn load_as(
        &self,
        part: Part,
        sql: &mut dyn SqlStore,
        table: &TableDef,
        decode: &dyn Decode,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut rows = Decoded { pairs: self, next: 0, decode, part, row: Row::new(), odd: None };
        sql.bulk_insert(table, &mut rows)?;
        match rows.odd {
            None => Ok(()),
            Some(place) => Err(self.odd(place, table)),
        }
    }

    /// Returns the keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|place| Some(self.get(place)?.0))
    }

    fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let (key, end) = *self.places.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.places[before].1);
        Some(self.bytes[start..end].split_at(key as usize))
    }

    #[cold]
    fn odd(&self, place: usize, table: &TableDef) -> EngineError {
        let (key, value) = self.get(place).unwrap_or_default();
        let doing = format!("show a pair in the table {}", table.name);
        EngineError::failed(NAME, doing, format!("{key:?}, {value:?} is none of its rows"))
    }
}

/// The rows of pairs.
struct Decoded<'a> {
    pairs: &'a Pairs,
    next: usize,
    decode: &'a dyn Decode,
    part: Part,
    row: Row<'a>,
    /// Index of a pair that is not a row, which ends them.
    odd: Option<usize>,
}

impl Rows for Decoded<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let Self { pairs, next, decode, part, row, odd } = self;
        let (key, value) = pairs.get(*next)?;
        row.clear();
        let whole = decode.key(key, row).and_then(|()| match part {
            Part::Whole => decode.value(value, row),
            Part::Key => Some(()),
            Part::Numbered => {
                row.push(Param::Int(u32::from_be_bytes(value.try_into().ok()?).into()));
                Some(())
            }
        });
        if whole.is_none() {
            *odd = Some(*next);
            return None;
        }
        *next += 1;
        Some(row)
    }
}
