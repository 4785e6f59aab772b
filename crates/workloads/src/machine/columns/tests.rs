use embermark_data::machine::Stamp;

use super::super::port::FIELDS;
use super::*;

#[test]
fn a_pair_is_a_row_of_its_columns() {
    let key = packed::stamp_key(Stamp { s: -5, ns: 999_999_999 });
    let value = packed::values_bytes(&[0, 1, 2, 3, u16::MAX]);
    let mut row = Row::new();
    Columns.key(&key, &mut row).unwrap();
    Columns.value(&value, &mut row).unwrap();
    assert_eq!(row[..], [-5, 999_999_999, 0, 1, 2, 3, 65_535].map(Param::Int));
    let names: Vec<&str> = TABLE.columns.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, [&["s", "ns"][..], &FIELDS].concat());
}

#[test]
fn what_is_no_sample_is_no_row() {
    assert_eq!(Columns.key(&[0; 11], &mut Row::new()), None);
    assert_eq!(Columns.value(&[0; 9], &mut Row::new()), None);
}
