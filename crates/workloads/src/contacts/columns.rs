//! Contacts in columns: the second copy of a key-value store's table.

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{Param, SqlStore, TableDef};
use embermark_model::fingerprint::Checksum;

use super::phase::Column;
use super::record;
use super::sql::{self, Query, TABLE};
use crate::mirrored::Mirrored;

/// What the pairs are as rows.
pub(super) struct Columns;

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TABLE
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.push(Param::Int(record::id(key)?));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.extend(record::texts(value)?.map(Param::Text));
        Some(())
    }
}

/// The statements that select by a column.
pub(super) type Statements = Mirrored<Column>;

/// Fetches the rows chosen by a column, over the connection of a number.
pub(super) fn select(
    (sql, number): (&mut dyn SqlStore, u64),
    statements: &mut Statements,
    by: Column,
) -> Result<Checksum> {
    let text = |dialect: &'static _| Ok(sql::text(dialect, Query::Select(by)));
    let statement = statements.statement(sql, number, by, text)?;
    sql::read(sql, statement, Param::Text(by.chosen()))
}

#[cfg(test)]
mod tests {
    use embermark_data::contacts;

    use super::super::port::Stored;
    use super::*;

    #[test]
    fn a_pair_is_a_row_of_its_columns() {
        for contact in contacts::generate(2_000, 1) {
            let (key, value) = (record::key(contact.id), record::encode(&contact));
            let mut row = Row::new();
            Columns.key(&key, &mut row).unwrap();
            Columns.value(&value, &mut row).unwrap();
            let Stored { id, texts } = Stored::of(&contact);
            assert_eq!(row[0], Param::Int(id));
            assert_eq!(row[1..], texts.map(Param::Text));
            assert_eq!(row.len(), TABLE.columns.len());
        }
    }

    #[test]
    fn what_is_no_contact_is_no_row() {
        let value = record::encode(&contacts::generate(1, 1).next().unwrap());
        assert_eq!(Columns.key(b"no", &mut Row::new()), None);
        assert_eq!(Columns.value(&value[1..], &mut Row::new()), None);
        assert_eq!(Columns.value(&[0xff; 155], &mut Row::new()), None);
    }
}
