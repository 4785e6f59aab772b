use embermark_model::table::{Column, RowsFrom, TimeUnit, Value};

use super::*;

fn column(name: &str, of: ColumnType) -> Column {
    Column { nullable: true, ..Column::new(name, of) }
}

/// Returns a table whose key is a text and a signed integer, with a float, a text, an unsigned
/// integer and bytes beside it, and an index of the text and the float.
fn table() -> Table {
    let int = |bits, signed| ColumnType::Int { bits, signed };
    Table {
        name: "t".to_owned(),
        columns: vec![
            column("number", int(32, true)),
            column("value", ColumnType::Float),
            column("name", ColumnType::Text),
            column("note", ColumnType::Text),
            column("small", int(8, false)),
            column("raw", ColumnType::Bytes),
            column("at", ColumnType::Timestamp(TimeUnit::Seconds)),
        ],
        key: vec![2, 0],
        indexes: vec![vec![3, 1]],
        rows: RowsFrom::Made(0),
    }
}

fn encoded(codec: &Codec, row: &[Value<'_>]) -> (Vec<u8>, Vec<u8>) {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    codec.key([row[2], row[0]], &mut key);
    codec.value(|column| row[column], &mut value);
    (key, value)
}

fn decoded(codec: &Codec, key: &[u8], value: &[u8]) -> Option<Vec<String>> {
    codec.read(key, value, Vec::new(), |mut all, value| {
        all.push(format!("{value:?}"));
        all
    })
}

const ROW: [Value<'static>; 7] = [
    Value::Int(-7),
    Value::Float(-0.5),
    Value::Text("käse"),
    Value::Text("a note that is longer than an index keeps"),
    Value::Int(255),
    Value::Bytes(&[0, 255, 0]),
    Value::Int(-3),
];

#[test]
fn a_row_comes_back_as_it_was_put() {
    let codec = Codec::new(&table());
    let absent = [ROW[0], Value::Null, ROW[2], Value::Null, Value::Null, Value::Null, Value::Null];
    for row in [ROW, absent] {
        let (key, value) = encoded(&codec, &row);
        let expected: Vec<String> = row.iter().map(|value| format!("{value:?}")).collect();
        assert_eq!(decoded(&codec, &key, &value), Some(expected));
        for (column, expected) in row.iter().enumerate() {
            assert_eq!(codec.column(&key, &value, column).as_ref(), Some(expected), "{column}");
        }
    }
    assert_eq!(codec.key_length, None);
}

#[test]
fn what_is_no_pair_of_the_table_is_no_row() {
    let codec = Codec::new(&table());
    let (key, value) = encoded(&codec, &ROW);
    assert_eq!(decoded(&codec, &key, &value[..3]), None);
    assert_eq!(decoded(&codec, &key, &value[..value.len() - 1]), None);
    assert_eq!(decoded(&codec, b"no zero", &value), None);
}

#[test]
fn keys_compare_as_their_values_do() {
    let codec = Codec::new(&table());
    let keys = [("a", i64::from(i32::MIN)), ("a", -1), ("a", 0), ("a", 1), ("ab", -5), ("b", -9)];
    let bytes = keys.map(|(name, number)| {
        let mut key = Vec::new();
        codec.key([Value::Text(name), Value::Int(number)], &mut key);
        key
    });
    assert!(bytes.is_sorted(), "{bytes:?}");
    // The first column alone comes before every key that begins with it, and after all smaller
    // ones.
    let mut first = Vec::new();
    codec.key([Value::Text("ab")], &mut first);
    assert!(bytes[3] < first && first < bytes[4]);
    assert_eq!(codec.prefix(&bytes[4], 1), 3);
    assert_eq!(codec.prefix(&bytes[4], 2), bytes[4].len());
}

#[test]
fn floats_in_an_index_compare_as_numbers() {
    let codec = Codec::new(&table());
    let floats = [f64::MIN, -1.5, -0.0, 1e-300, 2.0, f64::MAX];
    let bytes = floats.map(|float| {
        let mut entry = Vec::new();
        codec.index(&[3, 1], [Value::Text("x"), Value::Float(float)], &mut entry);
        entry
    });
    assert!(bytes.is_sorted(), "{bytes:?}");
    let mut absent = Vec::new();
    codec.index(&[3, 1], [Value::Text("x"), Value::Null], &mut absent);
    assert!(absent < bytes[0]);
}

#[test]
fn columns_are_set_where_they_lie_and_in_the_index() {
    let codec = Codec::new(&table());
    let (key, mut value) = encoded(&codec, &ROW);
    let length = value.len();
    codec.set(&mut value, 1, Value::Float(9.25));
    codec.set(&mut value, 3, Value::Text("A NOTE THAT IS LONGER THAN AN INDEX KEEPS"));
    codec.set(&mut value, 4, Value::Null);
    let mut row = ROW;
    (row[1], row[4]) = (Value::Float(9.25), Value::Null);
    row[3] = Value::Text("A NOTE THAT IS LONGER THAN AN INDEX KEEPS");
    assert_eq!(value.len(), length);
    assert_eq!((key, value), encoded(&codec, &row).clone());
}
