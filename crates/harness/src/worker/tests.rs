use super::*;

#[test]
fn a_run_that_took_no_time_has_none() {
    let measured = |elapsed_ns, ops| Measured { elapsed_ns, ops, capped: false };
    assert!(time_is_known(measured(0, 100)).is_err_and(|text| text.contains("backwards")));
    assert_eq!(time_is_known(measured(1, 100)), Ok(()));
    assert_eq!(time_is_known(measured(0, 0)), Ok(()));
}
