use embermark_data::events::{Payload, generate};

use super::super::port::{Record, Stored};
use super::*;

/// The columns of a row as the questions know an event.
fn event<'a>(row: &[Param<'a>]) -> Stored<'a> {
    let [Param::Int(id), Param::Int(timestamp), Param::Text(bucket), ref rest @ ..] = *row else {
        panic!("{row:?}")
    };
    let number = |param: &Param<'_>| match *param {
        Param::Null => None,
        Param::Int(value) => Some(value as f64),
        Param::Float(value) => Some(value),
        _ => panic!("{param:?}"),
    };
    let text = |param: &Param<'a>| match *param {
        Param::Null => None,
        Param::Text(text) => Some(text),
        _ => panic!("{param:?}"),
    };
    let numbers = std::array::from_fn(|i| number(&rest[i]));
    let texts = std::array::from_fn(|i| text(&rest[4 + i]));
    Stored { id, timestamp, bucket, numbers, texts }
}

#[test]
fn a_pair_is_a_row_of_its_columns() {
    for generated in generate(3_000, 1) {
        let record = Record::of(generated);
        let (key, mut value) = (record.event.id.to_be_bytes(), Vec::new());
        pair::encode(&record, &mut value);
        let mut row = Row::new();
        Columns.key(&key, &mut row).unwrap();
        Columns.value(&value, &mut row).unwrap();
        assert_eq!(row.len(), TYPED.columns.len());
        assert_eq!(event(&row), Stored::of(&record.event));
        if let Payload::Log(line) = &record.event.data {
            assert_eq!(row[6], Param::Int(line.span_id));
        }
    }
}

#[test]
fn what_is_no_event_is_no_row() {
    let is_value = |value: &[u8]| Columns.value(value, &mut Row::new()).is_some();
    assert_eq!(Columns.key(&[0; 7], &mut Row::new()), None);
    let head = [1_u8, 0, 0, 0, 0, 0, 0, 0, 9];
    for (json, known) in [("{\"co2\":4}", true), ("{\"co2\":4", false), ("", false)] {
        let value = [&head[..], json.as_bytes()].concat();
        assert_eq!(is_value(&value), known, "{json}");
    }
    let bucket = [&[3][..], &head[1..], b"{}"].concat();
    assert!(!is_value(&bucket));
    assert!(!is_value(&head[..8]));
}
