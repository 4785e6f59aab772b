//! Time of day and weather, which all motes share.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::draw::unit;

const MINUTES: usize = 24 * 60;
/// Cosine and sine of a minute's turn, 2π/1440. They are literals, because the standard library's
/// functions differ in the last digit between platforms.
const TURN: (f64, f64) = (0.999_990_480_720_734_2, 0.004_363_309_284_746_57);
/// Warmest and brightest minutes of a day, UTC.
const WARMEST: usize = 15 * 60;
const BRIGHTEST: usize = 13 * 60;

/// State of the building at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Air {
    /// °C above the average of a day at an average location.
    pub(super) warmth: f64,
    /// Daylight from 0 to 1.
    pub(super) daylight: f64,
}

/// The course of the days.
#[derive(Debug)]
pub(super) struct Climate {
    /// Cosine of the time since midnight, by minute.
    cycle: Vec<f64>,
    /// Slowly varying difference from the average day in °C.
    weather: f64,
}

impl Climate {
    pub(super) fn new() -> Self {
        let mut cycle = Vec::with_capacity(MINUTES);
        let (mut cosine, mut sine) = (1.0, 0.0);
        for _ in 0..MINUTES {
            cycle.push(cosine);
            (cosine, sine) = (cosine * TURN.0 - sine * TURN.1, sine * TURN.0 + cosine * TURN.1);
        }
        Self { cycle, weather: 0.0 }
    }

    /// Advances by one epoch, to a second of Unix time.
    pub(super) fn advance(&mut self, second: i64, rng: &mut Xoshiro256PlusPlus) -> Air {
        // A random walk drawn back to zero: a deviation of about 0.8 °C over some four hours.
        self.weather += (unit(rng.next_u64()) - 0.5) * 0.125 - self.weather * 0.001;
        let minute = second.div_euclid(60).rem_euclid(MINUTES as i64) as usize;
        let day = |peak: usize| self.cycle[(minute + MINUTES - peak) % MINUTES];
        let sun = (day(BRIGHTEST) + 0.1).max(0.0);
        Air { warmth: 2.8 * day(WARMEST) + self.weather, daylight: sun * sun / 1.21 }
    }
}

#[cfg(test)]
mod tests {
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
}
