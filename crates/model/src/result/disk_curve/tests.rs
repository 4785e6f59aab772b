use super::*;

#[test]
fn growth_at_a_time_is_that_of_the_last_point_until_then_and_of_no_time_beyond() {
    let points = vec![(0.0, 100), (1.0, 300), (2.0, 250)];
    let curve = DiskCurve { begin_bytes: 100, end_bytes: 400, points, ..DiskCurve::default() };
    let at = |seconds| curve.growth_at(seconds);
    assert_eq!([at(0.0), at(0.9), at(1.0), at(2.0)], [Some(0), Some(0), Some(200), Some(150)]);
    assert_eq!((at(-0.1), at(2.1)), (None, None));
    assert_eq!((curve.growth(), curve.seconds()), (300, Some(2.0)));
    assert_eq!(DiskCurve::default().growth_at(0.0), None);
}
