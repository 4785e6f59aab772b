use super::*;

#[test]
fn a_threshold_is_a_percentage_or_a_share() {
    assert_eq!(threshold("5%").unwrap(), 0.05);
    assert_eq!(threshold("0.2").unwrap(), 0.2);
    for bad in ["", "%", "-1%", "five", "inf", "nan"] {
        let error = threshold(bad).unwrap_err().to_string();
        assert!(error.contains("--threshold"), "{bad}: {error}");
    }
}
