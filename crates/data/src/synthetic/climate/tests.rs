use super::*;
use rand_xoshiro::rand_core::SeedableRng;

#[test]
fn the_recurrence_stays_on_the_circle() {
    let climate = Climate::new();
    for (minute, &value) in climate.cycle.iter().enumerate() {
        let exact = (minute as f64 / MINUTES as f64 * std::f64::consts::TAU).cos();
        assert!((value - exact).abs() < 1e-9, "{minute}");
    }
}

#[test]
fn afternoons_are_warmer_and_brighter_than_nights() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let at = |hour: i64, rng: &mut _| Climate::new().advance(hour * 3_600, rng);
    assert!(at(15, &mut rng).warmth > at(3, &mut rng).warmth + 4.0);
    assert!(at(13, &mut rng).daylight > 0.9);
    assert_eq!(at(1, &mut rng).daylight, 0.0);
}
