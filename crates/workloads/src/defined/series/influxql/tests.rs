use embermark_language::{Aggregate, Group, Grouped, Operator};
use embermark_model::table::{OwnedValue, Value};

use super::*;
use crate::defined::access::Filter;
use crate::defined::tables::{compute, group_of, table, without_bytes};

fn readings() -> Measurement {
    Measurement::new(without_bytes(&[0, 1]), &[]).unwrap()
}

fn is(column: usize, operator: Operator, bound: Value<'_>) -> Filter<'_> {
    Filter { column, operator, bound }
}

#[test]
fn a_table_is_a_measurement_by_a_time_in_its_key() {
    let readings = readings();
    assert_eq!(
        (readings.time, &*readings.tags, &*readings.fields),
        (Some(1), &[0][..], &[2, 3][..])
    );
    assert_eq!(readings.columns, ["station", "time", "value", "note"]);
    assert!(readings.mark == MARK && readings.finds_latest(0, 1) && !readings.finds_latest(3, 1));
    assert_eq!(readings.time_ns(-7).unwrap(), -7_000_000_000);
    assert!(readings.time_ns(i64::MAX / 1_000).unwrap_err().is_unsupported());
    let bytes = Measurement::new(table(&[0, 1]), &[]).err().unwrap();
    assert!(bytes.contains("bytes, as raw has"), "{bytes}");
    let named = Measurement::new(without_bytes(&[3]), &[]).err().unwrap();
    assert!(named.contains("a tag or field named time"), "{named}");
    let fraction = Measurement::new(without_bytes(&[1, 2]), &[]).err().unwrap();
    assert!(fraction.contains("a fraction, as value"), "{fraction}");
    let log = Measurement::new(without_bytes(&[1]), &[]).unwrap();
    assert!(log.tags.is_empty() && log.mark != MARK && !log.finds_latest(0, 1));
    assert!(log.every().starts_with("SELECT \"station\", \"value\""), "{}", log.every());
}

#[test]
fn rows_of_a_key_without_a_time_have_their_numbers_and_tags_by_their_indexes() {
    let mut table = without_bytes(&[3]).clone();
    table.columns[1].name = "seen".to_owned();
    let plain = Measurement::new(Box::leak(Box::new(table.clone())), &[0]).unwrap();
    assert_eq!((plain.time, &*plain.tags, &*plain.fields), (None, &[][..], &[0, 1, 2, 3][..]));
    // Fractions, nullable columns, and the key cannot be tags.
    table.indexes = vec![vec![0, 1], vec![2], vec![3]];
    let indexed = Measurement::new(Box::leak(Box::new(table)), &[]).unwrap();
    assert_eq!((&*indexed.tags, &*indexed.fields), (&[0, 1][..], &[2, 3][..]));
    assert!(!indexed.finds_latest(0, 1));
}

#[test]
fn texts_by_which_rows_are_found_are_tags_beside_a_key_of_one_number() {
    let log = Measurement::new(without_bytes(&[1]), &[3]).unwrap();
    assert_eq!((&*log.tags, &*log.fields), (&[3][..], &[0, 2][..]));
    let (note, mut text) = (is(3, Operator::Equal, Value::Text("a")), String::new());
    assert!(log.some(&[2], &[note], &mut text));
    let (from, note_is) = ("FROM \"readings\"", "WHERE \"note\" = 'a'");
    assert_eq!(text, format!("SELECT \"value\", \"station\" {from} {note_is}"));
    let high = is(2, Operator::Greater, Value::Float(2.5));
    assert!(log.some(&[2], &[note, high], &mut text));
    assert_eq!(text, format!("SELECT \"value\" {from} {note_is} AND \"value\" > 2.5"));
    assert!(log.some(&[0, 3], &[], &mut text));
    assert_eq!(text, format!("SELECT \"station\" {from} GROUP BY *"));
}

#[test]
fn rows_are_found_by_tags_times_and_fields() {
    let (readings, mut text) = (readings(), String::new());
    let select = "SELECT \"value\", \"note\", \"#row\" FROM \"readings\"";
    readings.get(&[Value::Int(5), Value::Int(60)], &mut text);
    let key = "WHERE \"station\" = '5' AND time = 60000000000";
    assert_eq!(text, format!("{select} {key} GROUP BY *"));
    readings.delete(&readings.is_key(&[Value::Int(5), Value::Int(60)]), &mut text);
    assert_eq!(text, format!("DELETE FROM \"readings\" {key}"));
    readings.delete(&readings.by_time(Operator::AtMost, Value::Int(-1)), &mut text);
    assert_eq!(text, "DELETE FROM \"readings\" WHERE time <= -1000000000");
    let filters = [
        is(1, Operator::Less, Value::Int(i64::MAX)),
        is(2, Operator::Greater, Value::Float(-2.0)),
        is(2, Operator::NotEqual, Value::Float(1e-7)),
        is(3, Operator::NotEqual, Value::Text("it's\n\\")),
    ];
    assert!(readings.rows(&filters, &mut text) && readings.can_express_all(&filters));
    let conditions = "WHERE time < 9223372036854775806 AND \"value\" > -2.0 \
                  AND \"value\" <> 0.0000001 AND \"note\" <> 'it\\'s\\n\\\\'";
    assert_eq!(text, format!("{select} {conditions} GROUP BY *"));
    // What InfluxQL cannot express is left out, and the client checks it.
    let filters = [
        is(0, Operator::Less, Value::Int(5)),
        is(1, Operator::NotEqual, Value::Int(5)),
        is(3, Operator::Less, Value::Text("a")),
        is(0, Operator::NotEqual, Value::Int(5)),
    ];
    assert!(!readings.rows(&filters, &mut text) && !readings.can_express_all(&filters));
    assert_eq!(text, format!("{select} WHERE \"station\" <> '5' GROUP BY *"));
}

#[test]
fn gaps_and_spreads_are_of_each_series() {
    let (readings, mut text) = (readings(), String::new());
    let filters = [is(0, Operator::Equal, Value::Int(5))];
    readings.gaps(&filters, 60, &mut text);
    let gaps = "SELECT \"#gap\", \"station\" FROM (SELECT ELAPSED(\"#row\", 1s) AS \"#gap\" \
                FROM \"readings\" WHERE \"station\" = '5' GROUP BY \"station\") WHERE \"#gap\" > 60";
    assert_eq!(text, gaps);
    assert!(readings.knows_spread(2, 0) && !readings.knows_spread(2, 3));
    readings.spread(2, &[], &mut text);
    let spread = "SELECT MEAN(\"value\") AS \"#mean\", STDDEV(\"value\") AS \"#deviation\" \
                  FROM \"readings\" GROUP BY *";
    assert_eq!(text, spread);
    // Bounds are written in full, without exponents.
    let bands = [(OwnedValue::Int(1), -0.1, 1e-7), (OwnedValue::Int(2), 1.0 / 3.0, 1e20)];
    readings.outside(2, &bands, &mut text);
    let outside = "SELECT \"value\" FROM \"readings\" WHERE (\"station\" = '1' AND (\"value\" < -0.1 \
                   OR \"value\" > 0.0000001)) OR (\"station\" = '2' AND (\"value\" < 0.3333333333333333 \
                   OR \"value\" > 100000000000000000000.0)) GROUP BY *";
    assert_eq!(text, outside);
    readings.latest_of_all(0, [Value::Int(1), Value::Int(20)], &mut text);
    let end = "WHERE \"station\" = '1' OR \"station\" = '20' GROUP BY * ORDER BY time DESC LIMIT 1";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn groups_are_of_tags_and_one_bucket_of_time() {
    let readings = readings();
    let group = Group {
        by: vec![Grouped::Column(0), Grouped::Bucket { column: 1, units: 3600 }],
        compute: vec![
            compute(Aggregate::Avg, Some(2)),
            compute(Aggregate::Count, None),
            compute(Aggregate::Count, Some(3)),
        ],
        ..group_of()
    };
    let filters = [is(1, Operator::AtLeast, Value::Int(9))];
    let made = readings.group(&group, &filters).unwrap();
    let expected = "SELECT MEAN(\"value\") AS \"#0\", COUNT(\"#row\") AS \"#1\", COUNT(\"note\") AS \"#2\", \
                COUNT(\"#row\") AS \"#rows\" FROM \"readings\" WHERE time >= 9000000000 \
                AND time <= 9223372036854775806 GROUP BY \"station\", time(3600s) fill(none)";
    assert_eq!((&*made.text, made.columns), {
        (expected, ["station", "time", "#0", "#1", "#2"].map(str::to_owned).to_vec())
    });
    for by in [
        vec![Grouped::Column(2)],
        vec![Grouped::Column(1)],
        vec![Grouped::Bucket { column: 1, units: 60 }, Grouped::Bucket { column: 1, units: 90 }],
    ] {
        assert_eq!(readings.group(&Group { by, ..group.clone() }, &[]), None);
    }
    let of_time = vec![compute(Aggregate::Max, Some(1))];
    assert_eq!(readings.group(&Group { compute: of_time, ..group.clone() }, &[]), None);
    assert_eq!(readings.group(&group, &[is(0, Operator::Less, Value::Int(5))]), None);
}
