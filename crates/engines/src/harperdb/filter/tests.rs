use super::*;
use crate::document::{CollectionDef, Value};

static READINGS: CollectionDef =
    CollectionDef { name: "readings", key: &["sensor", "ts"], indexes: &[], fields: &[] };

fn written(filter: Filter<'_>) -> serde_json::Value {
    let mut out = b"[".to_vec();
    conditions(&mut out, Key::of(&READINGS), &filter).unwrap();
    out.push(b']');
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_first_field_of_a_key_is_searched_by_a_range_of_the_key() {
    let found = written(Filter::Equal("sensor", Value::Int(7)));
    assert_eq!(found[0]["attribute"], "_id");
    assert_eq!(found[0]["value"], "8000000000000007");
    assert_eq!(found[1]["comparator"], "less_than");
    let (from, to) = (Value::Int(-1), Value::Int(2));
    let found = written(Filter::Between { field: "sensor", from, to });
    assert_eq!(found[0]["value"], "7fffffffffffffff");
    let found = written(Filter::Between { field: "ts", from, to });
    assert_eq!((&found[0]["attribute"], &found[1]["value"]), (&"ts".into(), &2.into()));
}
