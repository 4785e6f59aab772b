//! Time order and distinct keys.

use embermark_model::Reading;

/// How many bits of the time one pass of the sort looks at: 2,048 counters stay in cache.
const DIGIT_BITS: u32 = 11;
const DIGITS: usize = 1 << DIGIT_BITS;

/// How the readings of a file lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// Readings that are earlier than the one before them of the same sensor.
    pub(super) out_of_order: u64,
    /// Whether all readings together ascend in time.
    ascending: bool,
    earliest: i64,
    latest: i64,
}

impl Survey {
    pub(super) fn of(readings: &[Reading]) -> Self {
        let mut last = vec![i64::MIN; usize::from(u16::MAX) + 1];
        let mut survey =
            Self { out_of_order: 0, ascending: true, earliest: i64::MAX, latest: i64::MIN };
        let mut before = i64::MIN;
        for &Reading { ts, sensor, .. } in readings {
            let last = &mut last[usize::from(sensor)];
            survey.out_of_order += u64::from(ts < *last);
            *last = ts;
            survey.ascending &= before <= ts;
            before = ts;
            survey.earliest = survey.earliest.min(ts);
            survey.latest = survey.latest.max(ts);
        }
        survey
    }
}

/// Sorts by time; readings of one instant keep their order.
///
/// Readings are wide, and the log is grouped by mote rather than sorted by time. So, where time
/// and row number fit in one word together, the words are sorted, by the digits of the time from
/// the lowest to the highest, and each reading is moved once.
pub(super) fn sort(mut readings: Vec<Reading>, survey: Survey) -> Vec<Reading> {
    if survey.ascending {
        return readings;
    }
    let row_bits = usize::BITS - readings.len().leading_zeros();
    let time_bits = u64::BITS - survey.latest.abs_diff(survey.earliest).leading_zeros();
    if row_bits + time_bits > u64::BITS {
        readings.sort_by_key(|reading| reading.ts);
        return readings;
    }
    let word = |(row, reading): (usize, &Reading)| {
        reading.ts.abs_diff(survey.earliest) << row_bits | row as u64
    };
    let mut words: Vec<u64> = readings.iter().enumerate().map(word).collect();
    sort_from(row_bits, time_bits, &mut words);
    // Into a second vector: moving them within the first would wait for memory at every step.
    let mask = (1 << row_bits) - 1;
    words.into_iter().map(|word| readings[(word & mask) as usize]).collect()
}

/// Sorts words by the `bits` bits from `low` up; equal ones keep their order.
fn sort_from(low: u32, bits: u32, words: &mut Vec<u64>) {
    let mut next = vec![0; words.len()];
    for shift in (low..low + bits).step_by(DIGIT_BITS as usize) {
        let digit = |word: u64| (word >> shift) as usize & (DIGITS - 1);
        let mut places = [0_usize; DIGITS];
        for &word in &*words {
            places[digit(word)] += 1;
        }
        let mut place = 0;
        for slot in &mut places {
            place += std::mem::replace(slot, place);
        }
        for &word in &*words {
            let slot = &mut places[digit(word)];
            next[*slot] = word;
            *slot += 1;
        }
        std::mem::swap(words, &mut next);
    }
}

/// Of readings with the same key, keeps the first and drops the others; returns how many were
/// dropped. The readings must be in time order.
pub(super) fn drop_duplicates(readings: &mut Vec<Reading>) -> u64 {
    let before = readings.len();
    // In time order a key repeats only where its sensor's latest time does.
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
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn row(sensor: u16, ts: i64, mark: f64) -> Reading {
        Reading::new(Key { sensor, ts }, [Some(mark), None, None, None])
    }

    #[test]
    fn sorting_is_the_stable_sort_by_time_for_every_range_of_times() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for shift in [63, 60, 45, 40, 20, 14, 13, 12, 11, 10, 1, 0] {
            let readings: Vec<_> =
                (0..5_000).map(|i| row(1, rng.next_u64() as i64 >> shift, f64::from(i))).collect();
            let mut expected = readings.clone();
            expected.sort_by_key(|reading| reading.ts);
            let survey = Survey::of(&readings);
            let sorted = sort(readings, survey);
            assert!(sorted == expected, "shift {shift}");
            assert!(Survey::of(&sorted).ascending);
        }
        assert_eq!(sort(Vec::new(), Survey::of(&[])), []);
    }

    #[test]
    fn of_equal_keys_the_first_in_the_file_stays() {
        let readings = vec![
            row(1, 5, 0.0),
            row(2, 5, 1.0),
            row(1, 5, 2.0),
            row(1, 4, 3.0),
            row(2, 5, 4.0),
            row(1, 5, 5.0),
        ];
        let survey = Survey::of(&readings);
        assert_eq!(survey.out_of_order, 1);
        let mut readings = sort(readings, survey);
        assert_eq!(drop_duplicates(&mut readings), 3);
        assert_eq!(readings, [row(1, 4, 3.0), row(1, 5, 0.0), row(2, 5, 1.0)]);
    }
}
