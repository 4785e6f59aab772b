//! Operation sequences, drawn from the seed before any clock starts: the same on every engine.

use embermark_model::{Key, Reading};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::oracle::Oracle;
use super::port::Change;
use super::share::Done;

/// Every how many reads one asks for a key that does not exist.
const ABSENT_EVERY: usize = 64;

/// A read key that is not there, in place of a row's place.
const ABSENT: u32 = u32::MAX;

/// What each point phase does, in order. Beside the keys, which the clock sees, stand the places
/// of their rows, which the oracle needs.
pub(super) struct Sequences {
    /// Keys to read.
    pub reads: Vec<Key>,
    read_places: Vec<u32>,
    /// Sensors whose newest reading is asked for.
    pub newest: Vec<u16>,
    /// Temperatures to set, of distinct keys.
    pub changes: Vec<Change>,
    /// The places of the rows changed.
    pub changed: Vec<u32>,
    /// Distinct keys to delete.
    pub deletes: Vec<Key>,
    /// The places of the rows deleted.
    pub deleted: Vec<u32>,
}

impl Sequences {
    /// Draws all sequences over `rows`.
    pub(super) fn draw(rows: &[Reading], oracle: &Oracle, seed: u64) -> Self {
        // Each phase has a stream of its own, so that one does not shift with the others.
        let stream = |phase: u64| Draw::of(seed, phase);
        let (reads, read_places) = draw_reads(rows, oracle, stream(0));

        let mut draw = stream(1);
        let chosen = draw.distinct(oracle.sensors().len(), newest_for(rows.len()));
        let newest = chosen.into_iter().map(|i| oracle.sensors()[i as usize]).collect();

        let mut draw = stream(2);
        let changed = draw.distinct(rows.len(), (rows.len() / 2).max(1));
        let changes = changed
            .iter()
            .map(|&place| {
                let row = &rows[place as usize];
                Change { key: row.key(), temperature: draw.other_than(row.temperature()) }
            })
            .collect();

        let deleted = stream(3).distinct(rows.len(), (rows.len() / 10).max(1));
        let deletes = deleted.iter().map(|&place| rows[place as usize].key()).collect();
        Self { reads, read_places, newest, changes, changed, deletes, deleted }
    }

    /// The places of the rows that the reads which were done must find.
    pub(super) fn rows_read(&self, done: &Done) -> impl Iterator<Item = usize> {
        let done = done.of(&self.read_places);
        done.filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }
}

/// How many sensors are asked for their newest reading at a scale.
const fn newest_for(rows: usize) -> usize {
    match rows {
        0..=10_000 => 1,
        10_001..=100_000 => 3,
        100_001..=1_000_000 => 25,
        _ => usize::MAX,
    }
}

fn draw_reads(rows: &[Reading], oracle: &Oracle, mut draw: Draw) -> (Vec<Key>, Vec<u32>) {
    let one = |i: usize| {
        let place = draw.below(rows.len());
        let key = rows[place as usize].key();
        if i % ABSENT_EVERY == ABSENT_EVERY - 1 {
            (absent_after(rows, oracle, key), ABSENT)
        } else {
            (key, place)
        }
    };
    (0..rows.len()).map(one).unzip()
}

/// The first key of the sensor after `key` that no row has.
fn absent_after(rows: &[Reading], oracle: &Oracle, mut key: Key) -> Key {
    while oracle.place(rows, key).is_some() {
        key.ts = key.ts.wrapping_add(1);
    }
    key
}

/// Numbers drawn from a seed.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The numbered stream of a run's seed: 0 to 2 are those of reads, newest readings and updates, 3 that
    /// of deletes, 4 that of ranges.
    pub(super) fn of(seed: u64, stream: u64) -> Self {
        Self::new(seed.wrapping_mul(5).wrapping_add(stream))
    }

    /// A number below `n`, by multiplication (D. Lemire, Fast Random Integer Generation in an
    /// Interval, 2019); its bias of n / 2^64 is left in, being nothing.
    pub(super) fn below(&mut self, n: usize) -> u32 {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as u32
    }

    /// `k` distinct numbers below `n`, or all `n` if there are no more, in random order: the
    /// first steps of a Fisher-Yates shuffle.
    pub(super) fn distinct(&mut self, n: usize, k: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n as u32).collect();
        let k = k.min(n);
        for i in 0..k {
            all.swap(i, i + self.below(n - i) as usize);
        }
        all.truncate(k);
        all
    }

    /// A temperature from -10 to 50 °C that none of `old` is, of which there are few.
    pub(super) fn temperature(&mut self, old: impl Fn(f64) -> bool) -> f64 {
        loop {
            let drawn = self.other_than(None);
            if !old(drawn) {
                return drawn;
            }
        }
    }

    /// A temperature from -10 to 50 °C, to a hundredth as the sensors resolve it (the double next to
    /// that decimal), other than `old`.
    fn other_than(&mut self, old: Option<f64>) -> f64 {
        let hundredths = f64::from(self.below(6_000)) - 1_000.0;
        let drawn = hundredths / 100.0;
        if old == Some(drawn) { (hundredths + 100.0) / 100.0 } else { drawn }
    }
}

#[cfg(test)]
mod tests {
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
}
