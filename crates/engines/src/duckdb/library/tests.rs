use super::*;

#[test]
fn versions_are_compared_by_number_and_an_odd_one_is_taken_for_old() {
    assert!(at_least("1.5.6", (1, 5)) && at_least("1.10.0-dev3", (1, 5)));
    assert!(at_least("2.0.0", (1, 5)));
    assert!(!at_least("1.4.4", (1, 5)) && !at_least("0.9.2", (1, 5)));
    assert!(!at_least("", (1, 5)) && !at_least("nightly", (1, 5)));
}
