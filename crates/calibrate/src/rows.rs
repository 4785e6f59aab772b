//! The rows and keys of both sides.

use embermark_data::{DataError, synthetic};
use embermark_model::fingerprint::Checksum;
use embermark_model::{Key, Reading};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Of rows and keys.
pub const SEED: u64 = 42;
/// Sensors of the grid, from 1.
pub const SENSORS: u16 = 54;
/// The first time of the grid, in microseconds since 1970-01-01 UTC: 2004-02-28 08:00.
pub const START: i64 = 1_077_955_200_000_000;
/// Microseconds between two times of the grid: an epoch of the published log.
pub const STEP: i64 = 31_000_000;
/// Every how many reads one asks for a key that does not exist.
pub const ABSENT_EVERY: usize = 64;

/// Rows of the workload `sensors` with their keys set to an even grid of `times` times by
/// [`SENSORS`] sensors, in order of time: pgbench can compute a key that is there, not look one up.
pub fn grid(times: u16) -> Result<Vec<Reading>, DataError> {
    let rows = u64::from(times) * u64::from(SENSORS);
    let mut readings = synthetic::generate(rows, SEED)?.readings;
    for (place, reading) in (0..).zip(&mut readings) {
        reading.sensor = 1 + (place % i64::from(SENSORS)) as u16;
        reading.ts = START + place / i64::from(SENSORS) * STEP;
    }
    Ok(readings)
}

/// The keys that the phase `read` of `sensors` reads, in its order; one that is of no row has no
/// place. Drawn once more here, so that the bare loops read them too; that they are the same is
/// checked by the answers.
pub fn drawn(rows: &[Reading]) -> Vec<(Key, Option<usize>)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED.wrapping_mul(5));
    let one = |i: usize| {
        let drawn = u128::from(random.next_u64()) * rows.len() as u128;
        let place = (drawn >> 64) as usize;
        let mut key = rows[place].key();
        if i % ABSENT_EVERY == ABSENT_EVERY - 1 {
            key.ts += 1;
            return (key, None);
        }
        (key, Some(place))
    };
    (0..rows.len()).map(one).collect()
}

/// What reading those keys must find, as the workload sums it up.
pub fn checksum(rows: &[Reading], drawn: &[(Key, Option<usize>)]) -> Checksum {
    drawn.iter().filter_map(|(_, place)| place.map(|place| &rows[place])).collect()
}

/// A key as the key-value port of `sensors` encodes it.
pub fn encoded_key(key: Key) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&key.sensor.to_be_bytes());
    bytes[2..].copy_from_slice(&(key.ts as u64 ^ 1 << 63).to_be_bytes());
    bytes
}

/// A row's value as the key-value port of `sensors` encodes it.
pub fn encoded_value(reading: &Reading) -> [u8; 33] {
    let mut bytes = [0; 33];
    bytes[0] = reading.present as u8;
    for (slot, value) in bytes[1..].as_chunks_mut().0.iter_mut().zip(reading.values) {
        *slot = value.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
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
}
