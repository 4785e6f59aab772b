use super::of_words;

#[test]
fn the_version_is_that_of_the_release() {
    assert_eq!(of_words("LI-V6.3.4.1812 Firebird 5.0"), "5.0.4");
    assert_eq!(of_words("LI-T6.4.0.15 Firebird 6.0 Initial"), "6.0.0");
    assert!(!of_words("other words").starts_with("5."));
}
