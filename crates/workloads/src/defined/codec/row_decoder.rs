//! Describes the pairs of a table as rows, for a store that also keeps them in columns.

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Nullable, TableDef};
use embermark_model::fingerprint::Fingerprint;
use embermark_model::table::{Table, Value};

use super::super::Codec;
use super::super::sql::{definition, of_column};
use super::Place;

/// Returns the columns of a table in the order of its rows: those of the key, then the others.
pub fn order(table: &Table) -> impl Iterator<Item = usize> {
    let others = (0..table.columns.len()).filter(|column| !table.key.contains(column));
    table.key.iter().copied().chain(others)
}

/// Decodes the pairs of a table to rows.
pub struct RowDecoder {
    codec: Codec,
    rows: &'static TableDef,
    version: u32,
}

impl RowDecoder {
    /// Creates the decoder of a table. SQL finds its rows under `name`.
    pub fn new(of: &'static Table, name: &'static str) -> Self {
        let rows = definition(of, name, order(of).map(|column| of_column(&of.columns[column])));
        Self { codec: Codec::new(of), rows, version: version(of) }
    }
}

/// Returns a number that changes with the meaning of a pair's bytes.
fn version(table: &Table) -> u32 {
    let columns = table.columns.iter().map(|c| (&c.name, c.of, c.nullable, &c.within));
    let meaning = (columns.collect::<Vec<_>>(), &table.key, &table.indexes);
    let bits = Fingerprint::default().text(&format!("{meaning:?}")).bits();
    (bits ^ bits >> 32) as u32
}

impl Decode for RowDecoder {
    fn rows(&self) -> &TableDef {
        self.rows
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let (codec, mut rest) = (&self.codec, key);
        for number in 0..codec.key.len() {
            let (own, behind) = codec.split_key(rest, number)?;
            row.push(codec.of_key(own, number)?);
            rest = behind;
        }
        rest.is_empty().then_some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let codec = &self.codec;
        let mut rest = codec.rest(value)?;
        let places = codec.places.iter().enumerate();
        let others = places.filter(|(_, place)| !matches!(place, Place::Key(_)));
        for ((column, _), (.., nullable)) in others.zip(&self.rows.columns[codec.key.len()..]) {
            let got = codec.in_value(value, column, &mut rest)?;
            if got == Value::Null && *nullable == Nullable::No {
                return None;
            }
            row.push(got);
        }
        codec.is_all(value, &rest).then_some(())
    }
}

#[cfg(test)]
mod tests;
