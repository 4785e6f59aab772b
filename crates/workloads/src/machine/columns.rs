//! Decodes samples to rows, for SQL on the columnar copy of a key-value store. The workload's own
//! queries read a few samples each by key.

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::{
    Nullable::No,
    Param,
    SqlType::{Big, Int},
    TableDef,
};

use super::encoding;

static TABLE: TableDef = TableDef {
    name: "sample",
    columns: &[
        ("s", Big, No),
        ("ns", Int, No),
        ("v0", Int, No),
        ("v1", Int, No),
        ("v2", Int, No),
        ("v3", Int, No),
        ("v4", Int, No),
    ],
    key: &["s", "ns"],
};

/// Decodes the pairs to rows, where each pair is a sample.
pub(super) struct Columns;

impl Decode for Columns {
    fn rows(&self) -> &TableDef {
        &TABLE
    }

    fn key<'a>(&self, key: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let at = encoding::stamp(key).ok()?;
        row.extend([Param::Int(at.s), Param::Int(i64::from(at.ns))]);
        Some(())
    }

    fn value<'a>(&self, value: &'a [u8], row: &mut Row<'a>) -> Option<()> {
        let values = encoding::values(value).ok()?;
        row.extend(values.map(|value| Param::Int(i64::from(value))));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use embermark_data::machine::Stamp;

    use super::super::machine_log::FIELDS;
    use super::*;

    #[test]
    fn a_pair_is_a_row_of_its_columns() {
        let key = encoding::stamp_key(Stamp { s: -5, ns: 999_999_999 });
        let value = encoding::values_bytes(&[0, 1, 2, 3, u16::MAX]);
        let mut row = Row::new();
        Columns.key(&key, &mut row).unwrap();
        Columns.value(&value, &mut row).unwrap();
        assert_eq!(row[..], [-5, 999_999_999, 0, 1, 2, 3, 65_535].map(Param::Int));
        let names: Vec<&str> = TABLE.columns.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, [&["s", "ns"][..], &FIELDS].concat());
    }

    #[test]
    fn what_is_not_a_sample_is_not_a_row() {
        assert_eq!(Columns.key(&[0; 11], &mut Row::new()), None);
        assert_eq!(Columns.value(&[0; 9], &mut Row::new()), None);
    }
}
