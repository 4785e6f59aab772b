use std::time::{Duration, Instant};

use super::*;

#[test]
fn it_agrees_with_the_operating_systems_clock() {
    let clock = Clock::default();
    let (began, from) = (Instant::now(), clock.ticks());
    std::thread::sleep(Duration::from_millis(50));
    let (ours, theirs) =
        (clock.nanoseconds(from, clock.ticks()), began.elapsed().as_nanos() as u64);
    assert!(ours.abs_diff(theirs) < theirs / 10, "{ours} ns against {theirs} ns");
}

#[test]
fn a_counter_that_goes_backwards_is_no_time() {
    assert_eq!(Clock::default().nanoseconds(1_000, 10), 0);
}
