use super::*;

#[test]
fn of_three_trials_the_interval_is_their_range_and_of_two_there_is_none() {
    assert_eq!(interval(&[30.0, 10.0, 20.0]), Some([10.0, 30.0]));
    assert_eq!(ratio_interval(&[30.0, 10.0, 20.0], &[10.0; 3]), Some([1.0, 3.0]));
    assert_eq!((interval(&[1.0, 2.0]), ratio_interval(&[1.0; 3], &[1.0; 2])), (None, None));
}

#[test]
fn a_trial_that_is_no_measure_leaves_no_interval() {
    for bad in [0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(interval(&[1.0, 2.0, bad]), None);
        assert_eq!(ratio_interval(&[1.0, 2.0, 3.0], &[1.0, bad, 2.0]), None);
    }
}

#[test]
fn the_same_trials_have_the_same_interval_and_it_holds_their_median() {
    let trials = [9.0, 11.0, 10.0, 14.0, 8.0, 10.5];
    let [low, high] = interval(&trials).unwrap();
    assert_eq!(interval(&trials), Some([low, high]));
    assert!(low < 10.25 && 10.25 < high && low >= 8.0 && high <= 14.0, "{low} {high}");
}

#[test]
fn turned_around_a_ratio_has_the_ends_turned_around() {
    let (one, other) = ([3.0, 7.0, 5.0, 4.0], [2.0, 6.0, 9.0, 1.0, 8.0]);
    let [low, high] = ratio_interval(&one, &other).unwrap();
    let [turned_low, turned_high] = ratio_interval(&other, &one).unwrap();
    assert!((low * turned_high - 1.0).abs() < 1e-15 && (high * turned_low - 1.0).abs() < 1e-15);
}
