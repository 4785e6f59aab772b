use std::collections::BTreeSet;

use super::*;

fn rows(n: i64) -> Vec<Reading> {
    let row = |i| {
        let key = Key { sensor: (i % 7) as u16, ts: i / 7 };
        Reading::new(key, [(i % 3 > 0).then_some(i as f64), None, None, None])
    };
    (0..n).map(row).collect()
}

fn drawn(n: i64, seed: u64) -> (Vec<Reading>, Sequences) {
    let rows = rows(n);
    let sequences = Sequences::draw(&rows, &Oracle::new(&rows), seed);
    (rows, sequences)
}

#[test]
fn every_64th_read_asks_for_a_key_of_the_same_sensors_that_does_not_exist() {
    let (rows, sequences) = drawn(1_000, 1);
    let existing: BTreeSet<Key> = rows.iter().map(Reading::key).collect();
    for (i, key) in sequences.reads.iter().enumerate() {
        assert_eq!(existing.contains(key), i % 64 != 63, "{i}: {key:?}");
        assert!(key.sensor < 7);
    }
    let read: Vec<Key> =
        sequences.rows_read(&Done::first(130)).map(|place| rows[place].key()).collect();
    let mut asked = sequences.reads[..130].to_vec();
    asked.retain(|key| existing.contains(key));
    assert_eq!(read, asked);
    assert_eq!(read.len(), 128);
}

#[test]
fn updates_and_deletes_draw_distinct_keys_and_other_temperatures() {
    let (rows, sequences) = drawn(1_000, 2);
    let distinct = |places: &[u32]| places.iter().collect::<BTreeSet<_>>().len();
    assert_eq!((sequences.changes.len(), distinct(&sequences.changed)), (500, 500));
    assert_eq!((sequences.deletes.len(), distinct(&sequences.deleted)), (100, 100));
    for (change, &place) in sequences.changes.iter().zip(&sequences.changed) {
        let row = rows[place as usize];
        assert_eq!(change.key, row.key());
        assert_ne!(Some(change.temperature), row.temperature());
    }
    let mut draw = Draw::new(3);
    assert!((0..100_000).all(|_| draw.other_than(Some(20.0)) != 20.0));
}

#[test]
fn the_smallest_logs_still_have_something_to_do() {
    let (_, one) = drawn(1, 3);
    assert_eq!((one.reads.len(), one.newest.len()), (1, 1));
    assert_eq!((one.changes.len(), one.deletes.len()), (1, 1));
    let (_, none) = drawn(0, 3);
    assert_eq!((none.reads.len(), none.newest.len(), none.changes.len()), (0, 0, 0));
}

#[test]
fn the_sequence_depends_on_the_seed_alone() {
    let reads = |seed| drawn(500, seed).1.reads;
    assert_eq!(reads(7), reads(7));
    assert_ne!(reads(7), reads(8));
}

#[test]
fn more_rows_ask_more_sensors_for_their_newest_reading() {
    let asked = [1, 10_000, 10_001, 100_000, 1_000_000, 2_313_682].map(newest_for);
    assert_eq!(asked, [1, 1, 3, 3, 25, usize::MAX]);
    assert_eq!(drawn(10_100, 1).1.newest.len(), 3);
}
