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
