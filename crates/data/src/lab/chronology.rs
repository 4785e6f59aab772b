//! Checks the time order of readings and drops duplicate keys.

use embermark_model::Reading;

/// Returns the number of readings that are earlier than the previous one of the same sensor.
pub(super) fn out_of_order(readings: &[Reading]) -> u64 {
    let mut latest = vec![i64::MIN; usize::from(u16::MAX) + 1];
    let is_earlier = |reading: &&Reading| {
        let latest = &mut latest[usize::from(reading.sensor)];
        reading.ts < std::mem::replace(latest, reading.ts)
    };
    readings.iter().filter(is_earlier).count() as u64
}

/// Keeps the first of several readings with the same key and drops the others. Returns the number
/// dropped. The readings must be in time order.
pub(super) fn drop_duplicates(readings: &mut Vec<Reading>) -> u64 {
    let before = readings.len();
    // In time order a key repeats only if its sensor's latest time does.
    let mut latest = vec![None; usize::from(u16::MAX) + 1];
    readings.retain(|reading| {
        latest[usize::from(reading.sensor)].replace(reading.ts) != Some(reading.ts)
    });
    (before - readings.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use embermark_model::Key;

    fn row(sensor: u16, ts: i64, mark: f64) -> Reading {
        Reading::new(Key { sensor, ts }, [Some(mark), None, None, None])
    }

    #[test]
    fn of_equal_keys_the_first_in_the_file_stays() {
        let mut readings = vec![
            row(1, 5, 0.0),
            row(2, 5, 1.0),
            row(1, 5, 2.0),
            row(1, 4, 3.0),
            row(2, 5, 4.0),
            row(1, 5, 5.0),
        ];
        assert_eq!(out_of_order(&readings), 1);
        readings.sort_by_key(|reading| reading.ts);
        assert_eq!(drop_duplicates(&mut readings), 3);
        assert_eq!(readings, [row(1, 4, 3.0), row(1, 5, 0.0), row(2, 5, 1.0)]);
    }
}
