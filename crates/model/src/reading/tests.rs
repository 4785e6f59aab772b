use super::*;

#[test]
fn an_absent_value_has_no_bytes() {
    let reading = |values| Reading::new(Key { sensor: 7, ts: 1 }, values).value_bytes();
    assert_eq!(reading([Some(0.0); 4]), 42);
    assert_eq!(reading([Some(1.0), None, None, Some(2.0)]), 26);
    assert_eq!(reading([None; 4]), 10);
}
