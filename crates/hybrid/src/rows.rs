//! Converts pairs of the front to rows of the mirror.

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, Rows, SqlStore, TableDef};
use embermark_contract::{EngineError, Result};

use crate::NAME;

/// Pairs, or only keys, in one buffer.
#[derive(Default)]
pub(crate) struct Pairs {
    bytes: Vec<u8>,
    /// Key length and end offset of each pair.
    ends: Vec<(u32, usize)>,
}

/// Columns that a pair is converted to.
#[derive(Clone, Copy)]
pub(crate) enum Columns {
    /// Those of the row.
    All,
    /// Those of its key.
    Key,
    /// Those of its key and its value, a 32-bit big-endian number.
    KeyAndNumber,
}

impl Pairs {
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.ends.push((key.len() as u32, self.bytes.len()));
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Loads these columns into a table of the mirror. Fails at a pair that is not a valid row.
    pub fn load(
        &self,
        columns: Columns,
        sql: &mut dyn SqlStore,
        table: &TableDef,
        decode: &dyn Decode,
    ) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut rows =
            DecodedRows { pairs: self, next: 0, decode, columns, row: Row::new(), invalid: None };
        sql.bulk_insert(table, &mut rows)?;
        match rows.invalid {
            None => Ok(()),
            Some(place) => Err(self.invalid(place, table)),
        }
    }

    /// Returns the keys.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|place| Some(self.get(place)?.0))
    }

    fn get(&self, place: usize) -> Option<(&[u8], &[u8])> {
        let (key, end) = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].1);
        Some(self.bytes[start..end].split_at(key as usize))
    }

    #[cold]
    fn invalid(&self, place: usize, table: &TableDef) -> EngineError {
        let (key, value) = self.get(place).unwrap_or_default();
        let doing = format!("decode a pair of the table {}", table.name);
        let message = format!("key {key:?} with value {value:?} is not a valid row");
        EngineError::failed(NAME, doing, message)
    }
}

/// Iterator over the rows of pairs.
struct DecodedRows<'a> {
    pairs: &'a Pairs,
    next: usize,
    decode: &'a dyn Decode,
    columns: Columns,
    row: Row<'a>,
    /// Index of the first pair that is not a valid row. The iteration ends there.
    invalid: Option<usize>,
}

impl Rows for DecodedRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let Self { pairs, next, decode, columns, row, invalid } = self;
        let (key, value) = pairs.get(*next)?;
        row.clear();
        let whole = decode.key(key, row).and_then(|()| match columns {
            Columns::All => decode.value(value, row),
            Columns::Key => Some(()),
            Columns::KeyAndNumber => {
                row.push(Param::Int(u32::from_be_bytes(value.try_into().ok()?).into()));
                Some(())
            }
        });
        if whole.is_none() {
            *invalid = Some(*next);
            return None;
        }
        *next += 1;
        Some(row)
    }
}
