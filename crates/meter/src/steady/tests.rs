use super::of;

/// Whether the last five are steady.
fn steady(values: &[f64]) -> bool {
    of(values).is_some_and(|figure| figure.steady)
}

#[test]
fn five_equal_rounds_are_steady_and_four_are_not() {
    assert!(steady(&[7.0; 5]));
    assert!(!steady(&[7.0; 4]));
    assert_eq!(of(&[7.0; 4]).map(|figure| figure.rounds), Some(4));
}

#[test]
fn only_the_last_five_rounds_count() {
    assert!(steady(&[900.0, 300.0, 100.0, 101.0, 99.0, 100.0, 100.0]));
    assert!(!steady(&[100.0, 100.0, 100.0, 100.0, 100.0, 130.0]));
}

/// By hand: the mean is 100. From 90 to 110 is 20 % of it exactly, and the line through
/// 100, 90, 110, 90, 110 has the slope (-2·0 - 1·-10 + 0·10 + 1·-10 + 2·10) / 10 = 2 a round: 8 % over four.
#[test]
fn a_spread_of_a_fifth_of_the_mean_is_steady_and_one_above_it_is_not() {
    let figure = of(&[100.0, 90.0, 110.0, 90.0, 110.0]).unwrap();
    assert!((figure.mean - 100.0).abs() < 1e-9, "{figure:?}");
    assert!((figure.spread - 0.20).abs() < 1e-9, "{figure:?}");
    assert!((figure.slope - 0.08).abs() < 1e-9, "{figure:?}");
    assert!(figure.steady);
    assert!(!steady(&[100.0, 89.0, 110.0, 91.0, 110.0]));
}

/// By hand: 95, 97.5, 100, 102.5, 105 is a line that rises by 10 % of its mean; a little steeper is too
/// steep, though its spread is far below a fifth.
#[test]
fn a_line_that_rises_or_falls_by_a_tenth_is_steady_and_a_steeper_one_is_not() {
    let rising = [95.0, 97.5, 100.0, 102.5, 105.0];
    let figure = of(&rising).unwrap();
    assert!((figure.slope - 0.10).abs() < 1e-9, "{figure:?}");
    let steeper = [94.0, 97.0, 100.0, 103.0, 106.0];
    assert!((of(&steeper).unwrap().slope - 0.12).abs() < 1e-9);
    assert!(!steady(&steeper));
    let mut falling = steeper;
    falling.reverse();
    assert!(!steady(&falling));
    assert!(steady(&[95.1, 97.5, 100.0, 102.5, 104.9]));
}

#[test]
fn what_has_no_mean_above_nothing_is_no_figure() {
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[0.0; 5]), None);
    assert_eq!(of(&[1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
}
