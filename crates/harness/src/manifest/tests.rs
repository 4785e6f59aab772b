use super::*;

#[test]
fn every_run_has_a_name_of_its_own_that_begins_with_its_time() {
    let (one, other) = (run_id(), run_id());
    assert_ne!(one, other);
    assert_eq!(one.len(), "20260801T123456Z-0123abcd".len());
    assert!(one.starts_with("20") && one.contains("Z-"));
}

#[test]
fn times_are_utc_to_the_second() {
    assert_eq!(now().len(), "2026-08-01T12:34:56Z".len());
    assert!(now().ends_with('Z'));
}
