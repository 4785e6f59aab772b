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
