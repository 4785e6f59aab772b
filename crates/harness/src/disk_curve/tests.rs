use super::*;

#[test]
fn a_curve_that_lasts_longer_keeps_its_beginning_and_every_second_point() {
    let mut points: Vec<(f64, u64)> = (0..200).map(|n| (n as f64, n)).collect();
    thin(&mut points);
    assert_eq!(
        (points.len(), points[0], points[1], points[99]),
        (100, (0.0, 0), (2.0, 2), (198.0, 198))
    );
}

#[test]
fn what_is_soon_over_is_not_sampled() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Sampler::start(dir.path(), LEAST - Duration::from_millis(1)).is_none());
}
