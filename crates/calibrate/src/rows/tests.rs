use std::collections::BTreeSet;

use super::*;

#[test]
fn the_grid_has_every_sensor_at_every_time_once_in_order_of_time() {
    let rows = grid(20).unwrap();
    assert_eq!(rows.len(), 20 * usize::from(SENSORS));
    assert!(rows.is_sorted_by_key(|row| row.ts));
    let keys: BTreeSet<Key> = rows.iter().map(Reading::key).collect();
    assert_eq!(keys.len(), rows.len());
    let last = Key { sensor: SENSORS, ts: START + 19 * STEP };
    assert_eq!((rows[0].sensor, rows[0].ts, keys.last()), (1, START, Some(&last)));
}

#[test]
fn every_64th_key_drawn_is_of_no_row() {
    let rows = grid(20).unwrap();
    let keys: BTreeSet<Key> = rows.iter().map(Reading::key).collect();
    for (i, (key, place)) in drawn(&rows).into_iter().enumerate() {
        assert_eq!((keys.contains(&key), place.is_some()), (i % 64 != 63, i % 64 != 63), "{i}");
    }
}
