use embermark_contract::sql::Param;
use embermark_model::table::{Column, ColumnType, RowsFrom, TimeUnit};

use super::*;

/// Returns a table with every type beside the key, which is a text and a signed integer at the end
/// of the columns, and an index of a text and a float.
fn table(index: Vec<usize>) -> &'static Table {
    let int = |bits, signed| ColumnType::Int { bits, signed };
    let columns = [
        ("yes", ColumnType::Bool, true),
        ("tiny", int(8, true), true),
        ("small", int(16, false), true),
        ("wide", int(64, true), true),
        ("value", ColumnType::Float, true),
        ("note", ColumnType::Text, true),
        ("raw", ColumnType::Bytes, true),
        ("at", ColumnType::Timestamp(TimeUnit::Seconds), true),
        ("count", int(32, false), false),
        ("number", int(32, true), false),
        ("name", ColumnType::Text, false),
    ];
    let column = |(name, of, nullable): (&str, ColumnType, bool)| Column {
        nullable,
        ..Column::new(name, of)
    };
    Box::leak(Box::new(Table {
        name: "t".to_owned(),
        columns: columns.map(column).to_vec(),
        key: vec![10, 9],
        indexes: vec![index],
        rows: RowsFrom::Made(0),
    }))
}

fn decoder() -> RowDecoder {
    RowDecoder::new(table(vec![5, 4]), "t")
}

const ROW: [Value<'static>; 11] = [
    Value::Int(1),
    Value::Int(-128),
    Value::Int(65_535),
    Value::Int(i64::MIN),
    Value::Float(-0.5),
    Value::Text("a note, käse, that is longer than an index keeps"),
    Value::Bytes(&[0, 255, 0]),
    Value::Int(-3),
    Value::Int(4_294_967_295),
    Value::Int(-7),
    Value::Text("Straße"),
];

const ABSENT: [Value<'static>; 11] = {
    let mut row = [Value::Null; 11];
    (row[8], row[9], row[10]) = (Value::Int(0), Value::Int(i32::MIN as i64), Value::Text(""));
    row
};

fn encoded(codec: &Codec, row: &[Value<'_>]) -> (Vec<u8>, Vec<u8>) {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    codec.key([row[10], row[9]], &mut key);
    codec.value(|column| row[column], &mut value);
    (key, value)
}

#[test]
fn the_columns_of_the_key_come_first_then_the_others_in_their_order() {
    let decoder = decoder();
    let names: Vec<&str> = decoder.rows().columns.iter().map(|(name, ..)| *name).collect();
    let expected = "name number yes tiny small wide value note raw at count";
    assert_eq!(names.join(" "), expected);
    assert_eq!(decoder.rows().key, ["name", "number"]);
}

#[test]
fn every_value_comes_back_and_what_is_absent_is_null() {
    let decoder = decoder();
    for row in [ROW, ABSENT] {
        let (key, value) = encoded(&decoder.codec, &row);
        let mut got = Row::new();
        assert_eq!(decoder.key(&key, &mut got), Some(()));
        assert_eq!(decoder.value(&value, &mut got), Some(()));
        let expected: Row<'_> = order(table(vec![])).map(|column| row[column]).collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn bytes_are_the_last_of_a_key() {
    let mut own = table(vec![]).clone();
    (own.key, own.indexes) = (vec![1, 6], Vec::new());
    own.columns[1].nullable = false;
    let own = &*Box::leak(Box::new(own));
    let decoder = RowDecoder::new(own, "t");
    let mut key = Vec::new();
    decoder.codec.key([Value::Int(-1), Value::Bytes(&[0, 9, 0])], &mut key);
    let mut got = Row::new();
    assert_eq!(decoder.key(&key, &mut got), Some(()));
    assert_eq!(*got, [Param::Int(-1), Param::Bytes(&[0, 9, 0])]);
    // A key with only an integer has nothing behind it.
    assert_eq!(decoder.key(&key[..1], &mut Row::new()), Some(()));
    assert_eq!(decoder.key(&[], &mut Row::new()), None);
}

#[test]
fn what_is_no_key_of_the_table_is_none() {
    let decoder = decoder();
    let (key, _) = encoded(&decoder.codec, &ROW);
    let with_more = [&*key, &[0]].concat();
    let no_text = [&[0xff, 0], &key[key.len() - 4..]].concat();
    let broken: [&[u8]; 5] = [b"", b"no zero", &key[..key.len() - 1], &with_more, &no_text];
    for key in broken {
        assert_eq!(decoder.key(key, &mut Row::new()), None, "{key:?}");
    }
}

#[test]
fn what_is_no_value_of_the_table_is_none() {
    let decoder = decoder();
    let (_, value) = encoded(&decoder.codec, &ROW);
    let texts = decoder.codec.texts;
    let with_more = [&*value, &[0]].concat();
    let mut no_text = value.clone();
    no_text[texts] = 0xff;
    let mut none_there = value[..texts].to_vec();
    none_there[decoder.codec.bits..].fill(0);
    let mut too_long = value.clone();
    let Place::Text { length_at, .. } = decoder.codec.places[6] else { panic!("bytes") };
    too_long[length_at..length_at + 4].fill(0xff);
    let cut = &value[..value.len() - 1];
    let broken: [&[u8]; 7] =
        [b"", &value[..texts - 1], cut, &with_more, &no_text, &none_there, &too_long];
    for value in broken {
        assert_eq!(decoder.value(value, &mut Row::new()), None, "{value:?}");
    }
}

#[test]
fn another_meaning_has_another_number() {
    let of = |table: &Table| version(table);
    let first = table(vec![5, 4]);
    assert_eq!(of(first), of(table(vec![5, 4])));
    assert_ne!(of(first), of(table(vec![4])));
    let mut other = first.clone();
    other.columns[2].of = ColumnType::Int { bits: 16, signed: true };
    assert_ne!(of(first), of(&other));
    let mut other = first.clone();
    other.key = vec![9, 10];
    assert_ne!(of(first), of(&other));
}
