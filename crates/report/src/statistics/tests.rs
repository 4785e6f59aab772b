use super::*;

#[test]
fn means_of_nothing_are_none_and_never_zero() {
    assert_eq!((median(&[]), mean(&[]), geometric_mean([])), (None, None, None));
    assert_eq!((median(&[4.0, 1.0, 2.0, 8.0]), mean(&[4.0, 1.0, 1.0])), (Some(3.0), Some(2.0)));
}

#[test]
fn a_geometric_mean_treats_twice_and_half_alike_and_refuses_what_is_no_ratio() {
    let mean = geometric_mean([0.5, 2.0, 3.0, 3.0]).unwrap();
    assert!((mean - 3f64.sqrt()).abs() < 1e-12, "{mean}");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(geometric_mean([1.0, bad]), None);
    }
}
