//! Dogs in columns: the second copy of a key-value store's table.

use embermark_contract::Result;
use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{
    Nullable::No,
    Param, SqlStore,
    SqlType::{Bytes, Int, Text},
    TableDef,
};

use super::port;
use super::record::{self, Key, Layout};
use crate::mirrored::Mirrored;

/// The id is the bytes of the UUID, as the key has them.
static TABLE: TableDef = TableDef {
    name: port::TABLE,
    columns: &[("id", Bytes, No), ("name", Text, No), ("age", Int, No), ("breed", Text, No)],
    key: &["id"],
};

/// What the pairs of a layout are as rows.
pub(super) struct Columns(pub Layout);

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TABLE
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        row.push(Param::Bytes(<&Key>::try_from(key).ok()?));
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let dog = record::stored("", value, self.0)?;
        row.extend([Param::Text(dog.name), Param::Int(dog.age), Param::Text(dog.breed)]);
        Some(())
    }
}

/// The statement that counts.
pub(super) type Statements = Mirrored<()>;

/// Counts the rows, over the connection of a number.
pub(super) fn count(
    (sql, number): (&mut dyn SqlStore, u64),
    statements: &mut Statements,
) -> Result<u64> {
    let count = statements.statement(sql, number, (), |dialect| {
        Ok(format!("SELECT COUNT(id) FROM {}", dialect.table(TABLE.name)))
    })?;
    let mut counted = 0;
    sql.query(count, &[], &mut |row| {
        counted = row.int(0)?.unwrap_or_default().cast_unsigned();
        Ok(())
    })?;
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use embermark_data::dogs;

    use super::*;

    #[test]
    fn a_pair_is_a_row_of_its_columns() {
        for dog in dogs::generate(2_000, 1) {
            for layout in [Layout::Packed, Layout::Fixed] {
                let (key, value) = (record::key(&dog), record::value(&dog, layout));
                let mut row = Row::new();
                Columns(layout).key(&key, &mut row).unwrap();
                Columns(layout).value(&value, &mut row).unwrap();
                let [name, age, breed] =
                    [Param::Text(dog.name), Param::Int(dog.age), Param::Text(dog.breed)];
                assert_eq!(row[..], [Param::Bytes(&key), name, age, breed]);
            }
        }
    }

    #[test]
    fn what_is_no_dog_is_no_row() {
        let is_value = |value, layout| Columns(layout).value(value, &mut Row::new()).is_some();
        assert_eq!(Columns(Layout::Packed).key(&[0; 15], &mut Row::new()), None);
        assert!(is_value(&[3, 1, b'a', b'b'], Layout::Packed));
        for broken in [&[][..], &[3], &[3, 2, b'a'], &[3, 1, 0xff]] {
            assert!(!is_value(broken, Layout::Packed), "{broken:?}");
            assert!(!is_value(broken, Layout::Fixed), "{broken:?}");
        }
    }
}
