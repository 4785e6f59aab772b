use embermark_data::table::compare;
use embermark_model::table::{Column, RowsFrom, Table, TimeUnit};

use super::*;

fn table() -> Table {
    let column = |of| Column { nullable: true, ..Column::new("c", of) };
    let int = |bits, signed| column(ColumnType::Int { bits, signed });
    let [float, time] = [ColumnType::Float, ColumnType::Timestamp(TimeUnit::Seconds)];
    Table {
        name: "all".to_owned(),
        columns: vec![
            int(16, true),
            column(float),
            column(time),
            int(8, true),
            column(ColumnType::Text),
            int(32, false),
            column(float),
            column(time),
            column(ColumnType::Bool),
            int(64, false),
            column(ColumnType::Text),
        ],
        key: vec![0, 1, 2],
        indexes: vec![vec![6]],
        rows: RowsFrom::Made(0),
    }
}

fn rows() -> Vec<Vec<Value<'static>>> {
    let ints = [0, 1, -1, 127, -128, 5];
    let floats = [0.0, -0.0, 1.5, -1.5, f64::MAX, f64::NEG_INFINITY];
    let one = |n: usize| {
        vec![
            Value::Int(100 * ints[n]),
            Value::Float(floats[n]),
            Value::Int(ints[n] - 7),
            if n == 5 { Value::Null } else { Value::Int(ints[n]) },
            Value::Text(&"abcdef"[n..]),
            Value::Int(ints[n].rem_euclid(1 << 32)),
            if n == 2 { Value::Null } else { Value::Float(-floats[n]) },
            Value::Int(-ints[n]),
            Value::Int(i64::from(n.is_multiple_of(2))),
            Value::Int(i64::MAX - ints[n].abs()),
            if n == 3 { Value::Null } else { Value::Text(&"xyzabc"[..n]) },
        ]
    };
    (0..6).map(one).collect()
}

/// Returns the pair of a row.
fn pair(codec: &Codec, row: &[Value<'static>]) -> (Vec<u8>, Vec<u8>) {
    let (mut key, mut value) = (Vec::new(), Vec::new());
    codec.key(row[..3].iter().copied(), &mut key);
    codec.value(|column| row[column], &mut value);
    (key, value)
}

#[test]
fn a_field_has_the_value_that_the_codec_reads_and_orders_as_values_do() {
    let codec = Codec::new(&table());
    assert!(codec.field(4).is_none(), "a text has no width");
    let pairs: Vec<_> = rows().iter().map(|row| pair(&codec, row)).collect();
    for column in (0..10).filter(|column| *column != 4) {
        let field = codec.field(column).unwrap();
        let of = |pair: &(Vec<u8>, Vec<u8>)| field.ordered(&pair.0, &pair.1);
        for a in &pairs {
            let read = codec.column(&a.0, &a.1, column).unwrap();
            let value = of(a).map_or(Value::Null, |ordered| field.value(ordered));
            assert!(compare(&read, &value).is_eq(), "column {column}: {read:?}, {value:?}");
            for b in &pairs {
                let (Some(x), Some(y)) = (of(a), of(b)) else { continue };
                let values = [a, b].map(|p| codec.column(&p.0, &p.1, column).unwrap());
                assert_eq!(x.cmp(&y), compare(&values[0], &values[1]), "column {column}");
            }
        }
    }
}

#[test]
fn a_test_says_what_its_filter_says() {
    let codec = Codec::new(&table());
    let pairs: Vec<_> = rows().iter().map(|row| pair(&codec, row)).collect();
    let operators = [
        Operator::Equal,
        Operator::NotEqual,
        Operator::Less,
        Operator::AtMost,
        Operator::Greater,
        Operator::AtLeast,
    ];
    let bounds = [
        Value::Int(0),
        Value::Int(5),
        Value::Float(-0.0),
        Value::Float(1.5),
        Value::Text("bcdef"),
        Value::Text("xy"),
        Value::Text(""),
    ];
    let mut tested = 0;
    for column in 0..11 {
        for (operator, bound) in operators.iter().flat_map(|o| bounds.map(|bound| (*o, bound))) {
            let filter = Filter { column, operator, bound };
            let Some(test) = Test::new(&codec, &filter) else { continue };
            tested += 1;
            for (key, value) in &pairs {
                let met = filter.is_met(&codec.column(key, value, column).unwrap());
                assert_eq!(test.is_met(key, value), met, "{filter:?}");
            }
        }
    }
    assert_eq!(tested, 9 * 6 * 2 + 2 * 6 * 3);
}

#[test]
fn what_is_no_pair_has_no_values() {
    let codec = Codec::new(&table());
    assert_eq!(codec.field(0).unwrap().ordered(&[1], &[]), None);
    assert_eq!(codec.field(6).unwrap().ordered(&[], &[0xff; 12]), None);
}
