use super::*;

/// Watts every 100 ms from 0 on.
fn every_100_ms(seconds: u32, watts: impl Fn(f64) -> f64) -> Curve {
    (0..=seconds * 10).map(|n| f64::from(n) / 10.0).map(|at| (at, watts(at))).collect()
}

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 1e-6
}

#[test]
fn energy_is_the_area_below_the_power() {
    let constant = every_100_ms(20, |_| 5.0);
    assert!(near(constant.joules(2.0, 12.0, 1.0).unwrap(), 50.0));
    // Between samples, too.
    assert!(near(constant.joules(2.03, 12.07, 1.0).unwrap(), 50.2));
    // A ramp of 1 W a second: half the difference of the squares.
    let ramp = every_100_ms(20, |at| at);
    assert!(near(ramp.joules(2.05, 12.0, 1.0).unwrap(), (144.0 - 2.05 * 2.05) / 2.0));
    assert!(near(ramp.mean(4.0, 6.0, 1.0).unwrap(), 5.0));
}

#[test]
fn it_ends_with_the_last_sample_where_none_came_after_it() {
    let curve = every_100_ms(10, |_| 3.0);
    assert!(near(curve.joules(0.0, 10.5, 1.0).unwrap(), 31.5));
    let why = curve.joules(0.0, 12.0, 1.0).unwrap_err();
    assert_eq!(why, "it was not read for 2.0 s");
}

#[test]
fn a_gap_and_too_few_samples_are_no_energy() {
    let mut curve = every_100_ms(10, |_| 3.0);
    curve.push(14.0, 3.0);
    for n in 141..=300 {
        curve.push(f64::from(n) / 10.0, 3.0);
    }
    assert_eq!(curve.joules(5.0, 20.0, 1.0).unwrap_err(), "it was not read for 4.0 s");
    assert_eq!(curve.joules(11.0, 13.0, 1.0).unwrap_err(), "it was not read for 4.0 s");
    assert!(curve.joules(5.0, 10.0, 1.0).is_ok() && curve.joules(14.0, 20.0, 1.0).is_ok());
    let why = curve.joules(5.0, 5.5, 1.0).unwrap_err();
    assert!(why.contains("5 times in 0.500 s, and 10 times are needed"), "{why}");
    assert!(Curve::default().joules(0.0, 9.0, 1.0).is_err());
    assert!(curve.joules(40.0, 50.0, 1.0).is_err(), "after everything");
    assert!(every_100_ms(3, |_| 1.0).moved(|at| at + 10.0).joules(0.0, 13.0, 1.0).is_err());
}

#[test]
fn what_is_forgotten_leaves_the_sample_before() {
    let mut curve = every_100_ms(10, |at| at);
    curve.forget_before(5.05);
    assert_eq!(curve.ends(), Some([5.0, 10.0]));
    assert!(near(curve.interval().unwrap(), 0.1));
}
