use super::*;

/// A writer that keeps up to `most`.
fn found(most: u64) -> (Highest, Vec<u64>) {
    let mut tried = Vec::new();
    let found = search(|rate| {
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
    assert!(highest.remarks[0].starts_with("no rate up to"));
    let sensor =
        search(|rate| Ok(if rate <= 4_000 { Ok(()) } else { Err(Failure::Sensor(4_100)) }));
    assert!(sensor.unwrap().remarks[0].contains("the sensor itself is the bottleneck"));
}
