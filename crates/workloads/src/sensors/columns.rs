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
mod tests;
