use super::*;

#[test]
fn a_value_that_comes_back_in_another_form_is_the_same_and_an_adjusted_one_is_not() {
    for (given, back) in [
        ("1M", "1048576"),
        ("2k", "2048"),
        ("on", "1"),
        ("OFF", "OFF"),
        ("0", "0.000000"),
        ("o_direct", "O_DIRECT"),
        ("index_merge=off", "index_merge=off,sort_union=on"),
    ] {
        assert!(is(given, back), "{given} {back}");
    }
    for (given, back) in [("many", "1024"), ("10", "1024"), ("1", "OFF"), ("1G", "1048576")] {
        assert!(!is(given, back), "{given} {back}");
    }
}
