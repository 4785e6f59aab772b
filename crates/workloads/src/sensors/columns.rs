//! Readings in columns: the second copy of a key-value store's table.

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, SqlStore, TableDef, Visit};
use embermark_model::{Key, Reading};

use super::answers::Asks;
use super::codec::{self, KeyBytes, ValueBytes};
use super::queries::{Of, Query, TABLE};
use super::sql;
use crate::mirrored::Mirrored;

/// What the pairs are as rows.
pub(super) struct Columns;

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TABLE
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let Key { sensor, ts } = codec::decode_key(<&KeyBytes>::try_from(key).ok()?);
        row.extend([Param::Int(i64::from(sensor)), Param::Int(ts)]);
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let value = <&ValueBytes>::try_from(value).ok()?;
        let reading = codec::decode(Key { sensor: 0, ts: 0 }, value);
        let columns = Reading::COLUMNS.len();
        if reading.present >> columns != 0 {
            return None;
        }
        row.extend((0..columns).map(|i| reading.get(i).map_or(Param::Null, Param::Float)));
        Some(())
    }
}

/// The statements of questions, of every sensor or of one.
pub(super) type Statements = Mirrored<(Query, Of)>;

/// The rows, over the connection of a number.
pub(super) struct Rows<'a> {
    pub sql: &'a mut dyn SqlStore,
    pub number: u64,
    pub statements: &'a mut Statements,
}

impl Asks for Rows<'_> {
    fn ask(&mut self, query: Query, of: Option<u16>, visit: &mut Visit<'_>) -> Result<()> {
        let Self { sql, number, statements } = self;
        let form = Of::given(of);
        let statement = statements
            .statement(*sql, *number, (query, form), |dialect| Ok(query.text(form, dialect)))?;
        sql::ask(*sql, statement, (query, of), visit)
    }

    fn correlates(&self) -> bool {
        self.sql.dialect().correlation("y", "x").is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &[u8], value: &[u8]) -> Option<Vec<Param<'static>>> {
        let mut row = Row::new();
        Columns.key(key, &mut row)?;
        Columns.value(value, &mut row)?;
        row.into_iter()
            .map(|param| match param {
                Param::Int(value) => Some(Param::Int(value)),
                Param::Float(value) => Some(Param::Float(value)),
                Param::Null => Some(Param::Null),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_pair_is_a_row_of_its_columns() {
        let key = Key { sensor: 65_535, ts: -7 };
        let reading = Reading::new(key, [Some(-1.5), None, Some(0.0), None]);
        let found = row(&codec::encode_key(key), &codec::encode_value(&reading)).unwrap();
        let expected = [
            Param::Int(65_535),
            Param::Int(-7),
            Param::Float(-1.5),
            Param::Null,
            Param::Float(0.0),
            Param::Null,
        ];
        assert_eq!(found, expected);
        assert_eq!(found.len(), TABLE.columns.len());
    }

    #[test]
    fn what_is_no_reading_is_no_row() {
        let key = Key { sensor: 1, ts: 2 };
        let (key, value) =
            (codec::encode_key(key), codec::encode_value(&Reading::new(key, [None; 4])));
        assert!(row(&key, &value).is_some());
        assert_eq!(row(&key[1..], &value), None);
        assert_eq!(row(&key, &value[1..]), None);
        let mut fifth = value;
        fifth[0] = 1 << 4;
        assert_eq!(row(&key, &fifth), None);
    }
}
