//! Converts sensor values to the numbers that a mote can print: its converters have steps, and the
//! log prints six digits.
//!
//! The steps are those that the log's own digits show. Temperatures are 0.0098 °C apart from -38.4
//! (the highest of 14 bits is 122.153). Light is 0.46 lux apart. Voltages are 593.92 V divided by a
//! whole number. Humidities are on the sensor's quadratic curve (-3.91901 % is its step 2).

/// Highest step of the 14-bit temperature converter: 122.153 °C.
pub(super) const SATURATED: i32 = (1 << 14) - 1;
/// Voltage step from which a battery is too weak, 2.395 V. Higher steps are lower voltages.
pub(super) const WEAK: i32 = 248;

/// Returns the °C of a converter step.
pub(super) fn temperature(step: i32) -> f64 {
    six_digits(i64::from(98 * step - 384_000) * 1_000)
}

/// Returns the converter step at or below a temperature in °C.
pub(super) fn temperature_step(celsius: f64) -> i32 {
    (((celsius + 38.4) / 0.0098) as i32).clamp(0, SATURATED - 1)
}

/// Returns the humidity of a converter step in %.
pub(super) fn humidity(step: i32) -> f64 {
    let step = i64::from(step);
    six_digits(-40_000_000 + 405_000 * step - 28 * step * step)
}

/// Returns a converter step near a humidity in %: the tangent of the curve at 40 %.
pub(super) fn humidity_step(percent: f64) -> i32 {
    ((1_184.0 + (percent - 40.0) / 0.0339) as i32).clamp(2, 3_000)
}

/// Returns the lux of a converter step.
pub(super) fn light(step: i32) -> f64 {
    f64::from(46 * step) / 100.0
}

/// Returns the volts of a converter step.
pub(super) fn voltage(step: i32) -> f64 {
    let step = i64::from(step);
    ((59_392_000 + step / 2) / step) as f64 / 1e5
}

/// Rounds a number of ten-millionths to six significant digits (numbers of at least 1).
fn six_digits(ten_millionths: i64) -> f64 {
    let (unit, scale) = match ten_millionths.unsigned_abs() {
        1_000_000_000.. => (10_000, 1e3),
        100_000_000.. => (1_000, 1e4),
        _ => (100, 1e5),
    };
    let half = if ten_millionths < 0 { -unit / 2 } else { unit / 2 };
    ((ten_millionths + half) / unit) as f64 / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_give_the_numbers_that_stand_in_the_published_log() {
        assert_eq!(temperature(SATURATED), 122.153);
        assert_eq!(temperature(6_166), 22.0268);
        assert_eq!(humidity(2), -3.91901);
        assert_eq!(light(4_016), 1847.36);
        assert_eq!(voltage(292), 2.03397);
        assert_eq!(voltage(206), 2.88311);
        assert_eq!(voltage(210), 2.82819);
    }

    #[test]
    fn real_humidities_are_on_the_curve() {
        for real in [43.4524, 41.7805, 33.3507, 33.979, 35.2995, 26.9679, 57.0984, 19.9966] {
            assert!((0..3_000).any(|step| humidity(step) == real), "{real}");
        }
    }

    #[test]
    fn weak_batteries_are_the_ones_below_2_4_volts() {
        assert!(voltage(WEAK) < 2.4 && voltage(WEAK - 1) >= 2.4);
    }

    #[test]
    fn a_step_for_a_value_is_near_it() {
        for tenths in -100..=600 {
            let celsius = f64::from(tenths) / 10.0;
            assert!((temperature(temperature_step(celsius)) - celsius).abs() < 0.01, "{celsius}");
        }
        for percent in 20..60 {
            let percent = f64::from(percent);
            assert!((humidity(humidity_step(percent)) - percent).abs() < 1.5, "{percent}");
        }
    }
}
