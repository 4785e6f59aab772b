use std::time::Duration;

use embermark_data::machine::Sample;

use super::super::sensor::{Account, Task};
use super::super::written::Tally;
use super::super::written::tests::taken;
use super::*;

/// A search from the beginning of a writer that keeps up to `most`.
fn found(most: u64) -> (Highest, Vec<u64>) {
    searched(FIRST, None, u64::MAX, most)
}

fn searched(
    first: u64,
    failed: Option<(u64, Failure)>,
    trials: u64,
    most: u64,
) -> (Highest, Vec<u64>) {
    let mut tried = Vec::new();
    let found = search(first, failed, trials, |rate| {
        tried.push(rate);
        Ok(if rate <= most { Ok(()) } else { Err(Failure::Lost(rate - most)) })
    });
    (found.unwrap(), tried)
}

#[test]
fn the_highest_rate_is_found_to_five_percent() {
    for most in [1, 2, 3, 17, 999, 1_000, 1_001, 1_999, 5_400, 123_456, 999_999] {
        let (highest, tried) = found(most);
        let least = (most as f64 / WITHIN).floor() as u64;
        assert!((least..=most).contains(&highest.rate), "{most}: {highest:?} {tried:?}");
        assert!(tried.len() < 20, "{tried:?}");
    }
}

#[test]
fn the_ends_of_the_search_are_told() {
    assert_eq!(found(0).0.rate, 0);
    let (highest, tried) = found(u64::MAX);
    assert_eq!((highest.rate, tried.last()), (FASTEST, Some(&FASTEST)));
    assert!(highest.remark().starts_with("no rate up to"));
    let sensor = search(FIRST, None, u64::MAX, |rate| {
        Ok(if rate <= 4_000 { Ok(()) } else { Err(Failure::Sensor(4_100)) })
    });
    assert!(sensor.unwrap().remark().contains("the sensor itself is the bottleneck"));
}

#[test]
fn a_rate_that_does_not_hold_for_a_window_is_gone_down_from() {
    let limit = Some((10_400, Failure::Lost(1)));
    // One that holds is done with.
    let (highest, tried) = searched(10_000, limit.clone(), CONFIRMATIONS, 10_000);
    assert_eq!((highest.rate, tried), (10_000, vec![10_000]));
    assert_eq!(highest.failed, limit);
    // On the filled store it is 6,100.
    let (highest, tried) = searched(10_000, limit.clone(), CONFIRMATIONS, 6_100);
    assert!((5_809..=6_100).contains(&highest.rate), "{highest:?} {tried:?}");
    assert!(tried[..2] == [10_000, 5_000] && tried.len() <= 8, "{tried:?}");
    // Nothing is said of a rate that was not kept.
    let (highest, tried) = searched(10_000, limit, CONFIRMATIONS, 0);
    assert_eq!((highest.rate, tried.len()), (0, CONFIRMATIONS as usize));
}

/// A second at 1 kHz of a writer whose commits ended so long after they were due.
fn written(response_ms: fn(u64) -> u64, sensor_late_ms: u64) -> Written {
    let mut tally = Tally::new(Task { rate: 1_000, seed: 1, first: 0, end: 1_000 });
    for number in 0..1_000 {
        taken(&mut tally, number, Sample::default(), response_ms(number) * 1_000_000);
    }
    let latest_ns = sensor_late_ms * 1_000_000;
    Written { tally, account: Account { made: 1_000, latest_ns, ..Account::default() } }
}

#[test]
fn a_rate_is_kept_by_who_loses_nothing_and_is_on_time_from_when_samples_were_due() {
    let bound = Duration::from_millis(100);
    assert_eq!(judge(&written(|_| 1, 0), bound), Ok(()));
    let mut lossy = written(|_| 1, 0);
    lossy.account.made += 3;
    assert_eq!(judge(&lossy, bound), Err(Failure::Lost(3)));
    let Err(Failure::Late(p99)) = judge(&written(|_| 200, 0), bound) else { panic!() };
    assert!(p99.abs_diff(200_000_000) < 1_000_000, "{p99}");
    // One that is held up in the end only is late in ten of a thousand and has not fallen behind.
    assert_eq!(judge(&written(|number| if number < 992 { 1 } else { 200 }, 0), bound), Ok(()));
    let slower: fn(u64) -> u64 = |number| number / 20;
    assert_eq!(judge(&written(slower, 0), bound), Err(Failure::Behind(957)));
    assert_eq!(judge(&written(slower, 60), bound), Err(Failure::Sensor(957)));
}
