use super::*;

/// The machine's power: 3 W, 7 W in the pattern, and a varying load between the patterns.
fn watts(day: f64, markers: &[TimeSpan]) -> f64 {
    for marker in markers {
        let slot = (marker.ended - marker.began) / PATTERN.len() as f64;
        if (marker.began..marker.ended).contains(&day) {
            return if PATTERN[((day - marker.began) / slot) as usize] { 7.0 } else { 3.0 };
        }
    }
    let ran = markers[0].ended + 10.0..markers.last().unwrap().began - 1.0;
    if ran.contains(&day) && !((day / 7.0) as u64).is_multiple_of(3) { 6.5 } else { 3.0 }
}

const FIRST: TimeSpan = TimeSpan { began: 1_000.0, ended: 1_030.0 };
const LAST: TimeSpan = TimeSpan { began: 4_600.0, ended: 4_630.0 };

/// The last one of a short run.
const SOON: TimeSpan = TimeSpan { began: 1_600.0, ended: 1_630.0 };

/// The record of a meter with a line every `interval` and a clock of `day + off`, slowed by `rate`.
/// Each line is the mean of the time before it, with noise of a tenth of a watt.
fn record(
    interval: f64,
    markers: &[TimeSpan],
    to_meter: impl Fn(f64) -> f64,
    to_day: impl Fn(f64) -> f64,
) -> Curve {
    let first = to_meter(markers[0].began - 20.0);
    let last = to_meter(markers.last().unwrap().ended + 20.0);
    let lines = ((last - first) / interval) as u32;
    let mut noise = 1_u64;
    let line = |number: u32| {
        noise =
            noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (noise >> 33) as f64 / f64::from(1_u32 << 31) * 0.2 - 0.1;
        let at = first + f64::from(number) * interval;
        let within = (0..20).map(|n| at - interval * (f64::from(n) + 0.5) / 20.0);
        let mean = within.map(|at| watts(to_day(at), markers)).sum::<f64>() / 20.0;
        (at, mean + noise)
    };
    (0..lines).map(line).collect()
}

#[test]
fn a_clock_that_is_off_is_found_to_a_part_of_a_line() {
    for (interval, off) in [(1.0, -7_342.4), (0.5, 12.75), (0.1, 3_600.05)] {
        let curve = record(interval, &[FIRST], |day| day + off, |meter| meter - off);
        let clock = by_markers(&curve, &[FIRST]).unwrap();
        let error = clock.day(1_015.0 + off) - 1_015.0;
        // Each line covers the time before it, which must show as half a line.
        assert!(
            (error + interval / 2.0).abs() <= 0.3 * interval + 0.05,
            "{interval}: {error} {}",
            clock.description
        );
    }
}

#[test]
fn a_clock_that_goes_wrong_is_followed() {
    // A minute ahead, and 300 in a million too fast: about a second per hour.
    let rate = 1.0 + 3e-4;
    let to_meter = |day: f64| 60.0 + day * rate;
    let to_day = |meter: f64| (meter - 60.0) / rate;
    let markers = [FIRST, LAST];
    let curve = record(0.5, &markers, to_meter, to_day);
    let clock = by_markers(&curve, &markers).unwrap();
    for day in [1_010.0, 2_800.0, 4_610.0] {
        let error = clock.day(to_meter(day)) - day + 0.25;
        assert!(error.abs() < 0.25, "{day}: {error}, {}", clock.description);
    }
    assert!(clock.description.contains("in a million"), "{}", clock.description);
}

/// Keeps only what is between two times of the meter's.
fn cut(curve: &Curve, from: f64, to: f64) -> Curve {
    let all: Vec<(f64, f64)> = curve.samples().filter(|(at, _)| (from..to).contains(at)).collect();
    all.into_iter().collect()
}

#[test]
fn which_of_two_patterns_one_is_nobody_guesses() {
    let markers = [FIRST, SOON];
    let whole = record(1.0, &markers, |day| day + 40.0, |meter| meter - 40.0);
    for (from, to, place) in [(0.0, 1_350.0, 0), (1_350.0, 1e9, 1)] {
        let why = by_markers(&cut(&whole, from, to), &markers).unwrap_err();
        let offsets: Vec<f64> = why
            .split("--offset ")
            .skip(1)
            .map(|text| text.split([',', ' ']).next().unwrap().parse().unwrap())
            .collect();
        // The machine's clock is 40 s behind, and each line covers the second before it.
        assert!((offsets[place] + 40.5).abs() < 0.4, "{why}");
    }
}

#[test]
fn of_several_patterns_those_count_that_are_as_far_apart_as_they_were_made() {
    let markers = [FIRST, SOON];
    // Three patterns, of which two have the right distance.
    let other = TimeSpan { began: 1_900.0, ended: 1_930.0 };
    let three = record(1.0, &[FIRST, SOON, other], |day| day + 40.0, |meter| meter - 40.0);
    assert!((by_markers(&three, &markers).unwrap().day(1_340.0) - 1_300.0 + 0.5).abs() < 0.4);
    let why = by_markers(&three, &[FIRST]).unwrap_err();
    assert!(why.contains("3 places in it look like"), "{why}");
}

#[test]
fn what_has_no_pattern_in_it_is_refused() {
    let flat: Curve = (0..600).map(|n| (f64::from(n), 3.0)).collect();
    let why = by_markers(&flat, &[FIRST]).unwrap_err();
    assert!(why.contains("is not found in it") && why.contains("nothing does"), "{why}");
    let busy: Curve =
        (0..1_000).map(|n| (f64::from(n), if n % 40 < 17 { 7.0 } else { 3.0 })).collect();
    let why = by_markers(&busy, &[FIRST]).unwrap_err();
    assert!(why.contains("at best") && why.contains("--offset"), "{why}");
    let slow: Curve = (0..100).map(|n| (f64::from(n) * 10.0, 3.0)).collect();
    assert!(by_markers(&slow, &[FIRST]).unwrap_err().contains("a line every 10.0 s"));
    let short: Curve = (0..10).map(|n| (f64::from(n), f64::from(n))).collect();
    assert!(by_markers(&short, &[FIRST]).unwrap_err().contains("nothing does"));
}
