use std::time::Duration;

use embermark_model::Key;

use super::*;

fn row(sensor: u16, ts: i64) -> Reading {
    Reading::new(Key { sensor, ts }, [Some(1.0), None, Some(3.0), None])
}

#[test]
fn rows_are_fed_in_key_order_where_the_engine_wants_them_so() {
    for rows in [
        vec![row(2, 1), row(65_535, 2), row(0, 3), row(2, 4), row(65_535, 5), row(0, 6)],
        vec![row(2, 9), row(65_535, 2), row(2, 4), row(0, 3), row(0, -6)],
        vec![row(5, 1), row(4, 1), row(5, 2), row(4, 2), row(4, 3)],
        vec![row(5, 9), row(4, 1), row(5, 2), row(5, 3), row(4, -2)],
        vec![],
    ] {
        let mut meter = Meter::new(None);
        let mut source = RowSource::new(&rows, true, &mut meter);
        let mut keys = Vec::new();
        while let Some((key, _)) = Pairs::next(&mut source) {
            keys.push(codec::decode_key(key));
        }
        let mut expected: Vec<Key> = rows.iter().map(Reading::key).collect();
        expected.sort();
        assert_eq!(keys, expected);
        assert_eq!(source.rows.given(), rows.len() as u64);
    }
}

#[test]
fn the_feed_ends_at_the_cap() {
    let rows: Vec<Reading> = (0..10_000).map(|ts| row(1, ts)).collect();
    let mut meter = Meter::new(Some(Duration::from_nanos(1)));
    meter.start();
    let mut source = RowSource::new(&rows, false, &mut meter);
    let mut given = 0;
    while let Some(row) = Rows::next(&mut source) {
        assert_eq!(row[1], Param::Int(given));
        assert_eq!(row[3], Param::Null);
        given += 1;
    }
    assert_eq!((given, source.rows.given()), (4_096, 4_096));
    assert!(meter.measured().capped);
}
