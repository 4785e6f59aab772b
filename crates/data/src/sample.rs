//! Stratified sample: fewer rows of the same sensors over the same time.

use std::collections::BTreeMap;

use embermark_model::Reading;

use crate::DataError;

/// Selects `n` of `readings`: as equal a number per sensor as its rows allow, evenly spaced in that
/// sensor's own time, from its first reading to its last. The sample is in the order of `readings`,
/// which must be chronological. Nothing is random: equal input gives an equal sample.
///
/// A sensor with fewer rows than its share gives all of them, and the others share the rest. If the
/// rest does not divide evenly, the sensors with the lowest numbers give one row more.
///
/// # Errors
/// [`DataError::TooFewRows`] if `n` is more than the number of readings.
pub fn stratified(readings: &[Reading], n: usize) -> Result<Vec<Reading>, DataError> {
    if n > readings.len() {
        return Err(DataError::TooFewRows { asked: n as u64, rows: readings.len() as u64 });
    }
    if n == readings.len() {
        return Ok(readings.to_vec());
    }
    let mut sensors: BTreeMap<u16, Vec<i64>> = BTreeMap::new();
    for reading in readings {
        sensors.entry(reading.sensor).or_default().push(reading.ts);
    }
    let (numbers, all): (Vec<u16>, Vec<Vec<i64>>) = sensors.into_iter().unzip();
    let chosen: BTreeMap<u16, Vec<i64>> = numbers.into_iter().zip(times(all, n)).collect();
    let is_chosen = |reading: &&Reading| chosen[&reading.sensor].binary_search(&reading.ts).is_ok();
    Ok(readings.iter().filter(is_chosen).copied().collect())
}

/// Returns the times of the rows that [`stratified`] selects, by sensor, ascending. `sensors` has
/// the ascending times of all rows of each sensor, which are distinct. Selects `n` of them, or all.
pub(crate) fn times(mut sensors: Vec<Vec<i64>>, n: usize) -> Vec<Vec<i64>> {
    let counts: Vec<usize> = sensors.iter().map(Vec::len).collect();
    let shares = shares(&counts, n);
    for (times, share) in sensors.iter_mut().zip(shares) {
        *times = evenly_spaced(times, share).into_iter().map(|place| times[place]).collect();
    }
    sensors
}

/// Splits `n`, at most the sum of `counts`, into shares that are as equal as `counts` allow.
fn shares(counts: &[usize], n: usize) -> Vec<usize> {
    let mut shares = vec![0; counts.len()];
    let mut by_count: Vec<usize> = (0..counts.len()).collect();
    by_count.sort_by_key(|&i| counts[i]);
    let mut left = n;
    // From the smallest up: a sensor with no more than an equal part of the rest gives everything.
    let mut served = 0;
    while let Some(&i) = by_count.get(served) {
        if counts[i] > left / (by_count.len() - served) {
            break;
        }
        shares[i] = counts[i];
        left -= counts[i];
        served += 1;
    }
    let rest = &mut by_count[served..];
    rest.sort_unstable();
    let sharers = rest.len();
    for (position, &i) in rest.iter().enumerate() {
        shares[i] = left / sharers + usize::from(position < left % sharers);
    }
    shares
}

/// Returns `n` different indexes of `times`, which ascend. Each is as near as its neighbours allow
/// to its own of `n` times that divide the range from first to last evenly.
fn evenly_spaced(times: &[i64], n: usize) -> Vec<usize> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Vec::new() };
    let span = i128::from(last) - i128::from(first);
    let mut places = Vec::with_capacity(n);
    let mut place = 0;
    for i in 0..n {
        // A single row comes from the middle.
        let (part, parts) = if n == 1 { (1, 2) } else { (i as i128, n as i128 - 1) };
        let target = i128::from(first) + span * part / parts;
        let distance = |place: usize| (i128::from(times[place]) - target).abs();
        let furthest = times.len() - (n - i);
        while place < furthest && distance(place + 1) < distance(place) {
            place += 1;
        }
        places.push(place);
        place += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal_except_where_a_sensor_has_fewer() {
        assert_eq!(shares(&[10, 10, 10], 9), [3, 3, 3]);
        assert_eq!(shares(&[10, 1, 10], 9), [4, 1, 4]);
        assert_eq!(shares(&[10, 1, 10], 10), [5, 1, 4]);
        assert_eq!(shares(&[2, 1, 100], 103), [2, 1, 100]);
        assert_eq!(shares(&[5, 5, 5], 2), [1, 1, 0]);
        assert_eq!(shares(&[5, 5], 0), [0, 0]);
    }

    #[test]
    fn shares_differ_by_at_most_one_among_sensors_that_have_more() {
        let counts = [3, 17, 1, 90, 40, 40, 8];
        for n in 0..=counts.iter().sum() {
            let shares = shares(&counts, n);
            assert_eq!(shares.iter().sum::<usize>(), n);
            let most = shares.iter().copied().max().unwrap();
            for (&share, &count) in shares.iter().zip(&counts) {
                assert!(share <= count);
                assert!(share == count || share + 1 >= most, "{n}: {shares:?}");
            }
        }
    }

    #[test]
    fn rows_at_an_even_pace_are_taken_at_an_even_pace() {
        let times: Vec<i64> = (0..101).map(|i| i * 31).collect();
        assert_eq!(evenly_spaced(&times, 5), [0, 25, 50, 75, 100]);
        assert_eq!(evenly_spaced(&times, 1), [50]);
        assert_eq!(evenly_spaced(&times, 101), (0..101).collect::<Vec<_>>());
    }

    #[test]
    fn spacing_is_even_in_time_not_in_the_number_of_rows() {
        // Ninety rows in the first tenth of the time, ten rows in the rest.
        let times: Vec<i64> = (0..90).map(|i| i * 10).chain((1..=10).map(|i| i * 900)).collect();
        let places = evenly_spaced(&times, 11);
        assert_eq!(places, [0, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
    }

    #[test]
    fn places_are_distinct_and_ascend_over_any_gap() {
        let times: Vec<i64> =
            (0..50).map(|i| if i < 20 { i } else { i + i64::from(u32::MAX) }).collect();
        for n in 1..=50 {
            let places = evenly_spaced(&times, n);
            assert_eq!(places.len(), n);
            assert!(places.is_sorted_by(|a, b| a < b), "{n}: {places:?}");
            assert!(places.iter().all(|&place| place < 50));
        }
    }
}
