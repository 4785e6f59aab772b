use super::*;

#[test]
fn a_decimal_is_an_integer_when_nothing_is_behind_its_point() {
    assert_eq!(whole("-42"), Some(-42));
    assert_eq!(whole("6.0000"), Some(6));
    assert_eq!(whole("6.5000"), None);
    assert_eq!(whole("9223372036854775808"), None);
}
