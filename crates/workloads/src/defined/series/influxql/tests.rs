use super::super::super::tables::{compute, group_of, table, without_bytes};
use super::*;

fn readings() -> Measurement {
    Measurement::of(without_bytes(&[0, 1])).unwrap()
}

fn is(column: usize, operator: Operator, bound: Value<'_>) -> Filter<'_> {
    Filter { column, operator, bound }
}

#[test]
fn a_table_is_a_measurement_by_a_time_in_its_key() {
    let readings = readings();
    assert_eq!((readings.time, &*readings.tags, &*readings.fields), (1, &[0][..], &[2, 3][..]));
    assert_eq!(readings.columns(), ["station", "time", "value", "note"]);
    assert!(readings.is_marked() && readings.finds_latest(0, 1) && !readings.finds_latest(3, 1));
    assert_eq!(readings.time_ns(-7).unwrap(), -7_000_000_000);
    assert!(readings.time_ns(i64::MAX / 1_000).unwrap_err().is_unsupported());
    for (key, why) in [(&[0][..], "without a timestamp in its key"), (&[0, 1], "bytes, as raw has")]
    {
        assert!(Measurement::of(table(key)).err().unwrap().contains(why), "{key:?}");
    }
    let fraction = Measurement::of(without_bytes(&[1, 2])).err().unwrap();
    assert!(fraction.contains("a fraction, as value"), "{fraction}");
    let log = Measurement::of(without_bytes(&[1])).unwrap();
    assert!(log.tags.is_empty() && !log.is_marked() && !log.finds_latest(0, 1));
    assert!(log.every().starts_with("SELECT \"station\", \"value\""), "{}", log.every());
}

#[test]
fn rows_are_found_by_tags_times_and_fields() {
    let (readings, mut text) = (readings(), String::new());
    let select = "SELECT \"value\", \"note\", \"#row\" FROM \"readings\"";
    readings.get(&[Value::Int(5), Value::Int(60)], &mut text);
    let key = "WHERE \"station\" = '5' AND time = 60000000000";
    assert_eq!(text, format!("{select} {key} GROUP BY *"));
    readings.delete(&[Value::Int(5), Value::Int(60)], &mut text);
    assert_eq!(text, format!("DELETE FROM \"readings\" {key}"));
    readings.delete_until(-1, &mut text);
    assert_eq!(text, "DELETE FROM \"readings\" WHERE time <= -1000000000");
    let filters = [
        is(1, Operator::Less, Value::Int(i64::MAX)),
        is(2, Operator::Greater, Value::Float(-2.0)),
        is(2, Operator::NotEqual, Value::Float(1e-7)),
        is(3, Operator::NotEqual, Value::Text("it's\n\\")),
    ];
    assert!(readings.rows(&filters, &mut text) && readings.says_all(&filters));
    let conditions = "WHERE time < 9223372036854775806 AND \"value\" > -2.0 \
                      AND \"value\" <> 0.0000001 AND \"note\" <> 'it\\'s\\n\\\\'";
    assert_eq!(text, format!("{select} {conditions} GROUP BY *"));
    // What it cannot say is left out, for its client to look at.
    let filters = [
        is(0, Operator::Less, Value::Int(5)),
        is(1, Operator::NotEqual, Value::Int(5)),
        is(3, Operator::Less, Value::Text("a")),
        is(0, Operator::NotEqual, Value::Int(5)),
    ];
    assert!(!readings.rows(&filters, &mut text) && !readings.says_all(&filters));
    assert_eq!(text, format!("{select} WHERE \"station\" <> '5' GROUP BY *"));
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
