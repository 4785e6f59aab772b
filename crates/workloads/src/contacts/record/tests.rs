use embermark_data::contacts;

use super::*;

#[test]
fn every_contact_comes_back_from_its_key_and_record() {
    for contact in contacts::generate(5_000, 1) {
        let record = encode(&contact);
        assert_eq!(decode(&key(contact.id), &record), Some(Stored::of(&contact)));
    }
}

#[test]
fn a_column_is_found_and_set_in_its_place_alone() {
    assert_eq!((STATE, ZIP), (110..112, 112..122));
    for contact in contacts::generate(100, 1) {
        for column in [Column::State, Column::Zip] {
            let mut record = encode(&contact);
            let text = if column == Column::State { &*contact.state } else { &contact.zip };
            assert_eq!(is_chosen(&record, column), text == column.chosen());
            refresh(&mut record, column);
            assert!(!is_chosen(&record, column));
            let mut expected = Stored::of(&contact);
            expected.texts[if column == Column::State { 4 } else { 5 }] = column.fresh();
            assert_eq!(decode(&key(contact.id), &record), Some(expected));
        }
    }
}

#[test]
fn what_is_no_contact_is_not_taken_for_one() {
    let record = encode(&contacts::generate(1, 1).next().unwrap());
    assert_eq!(decode(b"no", &record), None);
    assert_eq!(decode(&key(1), &record[1..]), None);
    assert_eq!(decode(&key(1), &[0xff; 155]), None);
}
