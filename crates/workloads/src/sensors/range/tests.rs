use std::collections::BTreeSet;

use super::*;

/// As many rows of each sensor, in turns.
fn rows(of_each: &[i64]) -> Vec<Reading> {
    let most = of_each.iter().copied().max().unwrap_or(0);
    let row = |(sensor, ts): (u16, i64)| Reading::new(Key { sensor, ts }, [Some(20.0); 4]);
    let turn = |ts| (0..).zip(of_each).filter(move |(_, n)| ts < **n).map(move |(s, _)| (s, ts));
    (0..most).flat_map(turn).map(row).collect()
}

fn drawn(rows: &[Reading], seed: u64) -> Ranges {
    Ranges::draw(rows, &Oracle::new(rows), Draw::new(seed))
}

/// The readings between the times of a range.
fn between<'a>(rows: &'a [Reading], span: &Span) -> Vec<&'a Reading> {
    let (from, to) = span.keys();
    rows.iter().filter(|row| from <= row.key() && row.key() < to).collect()
}

#[test]
fn ranges_are_ten_consecutive_readings_of_one_sensor_and_disjoint() {
    let rows = rows(&[300, 207, 393, 95, 5]);
    for seed in 0..20 {
        let ranges = drawn(&rows, seed);
        assert_eq!((ranges.changes.len(), ranges.deletes.len()), (50, 10));
        let updates: Vec<Span> = ranges.changes.iter().map(|change| change.span).collect();
        for spans in [&updates, &ranges.deletes] {
            let mut seen = BTreeSet::new();
            for span in spans {
                let found = between(&rows, span);
                let all = rows.iter().filter(|row| row.sensor == span.sensor).count();
                assert_eq!(found.len(), all.min(READINGS), "{span:?}");
                assert_eq!(found.len() as u64, span.readings);
                assert!(found.iter().all(|row| seen.insert(row.key())), "{span:?} overlaps");
            }
        }
    }
}

#[test]
fn the_places_beside_the_ranges_are_those_of_their_rows() {
    let rows = rows(&[40, 40]);
    let (oracle, ranges) = (Oracle::new(&rows), drawn(&rows, 3));
    for (range, span) in ranges.deleted.iter().zip(&ranges.deletes) {
        let places = oracle.order()[range.clone()].iter().map(|place| &rows[*place as usize]);
        assert_eq!(places.collect::<Vec<_>>(), between(&rows, span));
    }
}

#[test]
fn a_range_gets_a_temperature_that_none_of_its_readings_has() {
    let mut all = rows(&[1_000]);
    for (row, i) in all.iter_mut().zip(0..) {
        row.set(Reading::TEMPERATURE, Some(f64::from(i % 6_000) / 100.0));
    }
    for change in (0..10).flat_map(|seed| drawn(&all, seed).changes) {
        let found = between(&all, &change.span);
        assert!(found.iter().all(|row| row.temperature() != Some(change.temperature)));
    }
}

#[test]
fn the_smallest_logs_have_a_range_and_sensors_of_few_rows_enough_of_them() {
    assert_eq!(drawn(&rows(&[1]), 1).changes.len(), 1);
    assert_eq!(drawn(&[], 1).changes.len(), 0);
    for of_each in [1, 2, 9, 10, 11, 19] {
        let rows = rows(&[of_each; 54]);
        let expected = (rows.len() / 20).max(1);
        assert_eq!(drawn(&rows, 1).changes.len(), expected, "{of_each} of each");
    }
}
