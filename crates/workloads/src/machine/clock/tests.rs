use super::*;

#[test]
fn a_clock_that_stands_or_steps_back_gives_rising_stamps_all_the_same() {
    let mut stamper = Stamper::new();
    let times = [10, 10, 12, 5, 5, 13, 1_000_000_000, 999_999_999];
    let stamps: Vec<i64> = times.iter().map(|now| stamper.rising(*now).nanoseconds()).collect();
    assert_eq!(stamps, [10, 11, 12, 13, 14, 15, 1_000_000_000, 1_000_000_001]);
    assert!(stamper.stamp() < stamper.stamp());
}
