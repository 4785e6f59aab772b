use super::*;

#[test]
fn of_five_or_more_what_is_beyond_tukeys_fences_stands_apart() {
    assert_eq!(outliers(&[10.0, 11.0, 30.0, 12.0, 10.5]), [2]);
    assert_eq!(outliers(&[10.0, 11.0, 12.0, 13.0, 14.0]), Vec::<usize>::new());
    assert_eq!(outliers(&[10.0, 10.1, 1.0, 10.2, 10.3, 40.0]), [2, 5]);
}

#[test]
fn of_three_one_stands_apart_when_the_two_others_all_but_agree() {
    assert_eq!(outliers(&[10.0, 20.0, 10.1]), [1]);
    assert_eq!(outliers(&[10.0, 2.0, 10.1]), [1]);
    assert_eq!(outliers(&[10.0, 12.0, 10.5]), Vec::<usize>::new(), "Q is 0.75");
    assert_eq!(outliers(&[10.0, 10.5, 10.001]), Vec::<usize>::new(), "within a tenth");
    assert_eq!(outliers(&[10.0, 14.0, 10.1, 10.2]), [1]);
}

#[test]
fn equal_trials_and_pairs_have_none() {
    for trials in [&[][..], &[1.0], &[1.0, 100.0], &[5.0; 3], &[5.0; 9]] {
        assert_eq!(outliers(trials), Vec::<usize>::new(), "{trials:?}");
    }
}
