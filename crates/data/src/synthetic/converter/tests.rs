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
