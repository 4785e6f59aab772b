use super::*;

#[test]
fn minutes_are_shown_of_what_has_two_of_them_and_quarters_of_what_is_shorter() {
    let shown = |lasted| moments(lasted).into_iter().map(moment).collect::<Vec<_>>();
    assert_eq!(shown(1_199.9), ["1 min", "2 min", "5 min", "10 min", "15 min", "20 min"]);
    assert_eq!(shown(130.0), ["1 min", "2 min"]);
    assert_eq!(shown(70.0), ["17.5 s", "35.0 s", "52.5 s", "70.0 s"]);
    assert_eq!(shown(60.0)[3], "1 min");
}

#[test]
fn a_database_that_shrank_has_a_minus() {
    assert_eq!([signed(-1_500.0), signed(0.0), signed(2e6)], ["-1.50 kB", "0 B", "2.00 MB"]);
}
