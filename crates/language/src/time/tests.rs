use embermark_model::table::TimeUnit;

use super::{duration, moment, rate, units};

#[test]
fn lengths_of_time_are_whole_numbers_of_a_unit() {
    assert_eq!(duration("30s"), Some(30_000_000_000));
    assert_eq!(duration("7d"), duration("1w"));
    assert_eq!(duration("5m"), duration("300s"));
    for wrong in ["", "s", "0s", "30", "1.5h", "-1h", "1 h", "1y", "99999999999999999999s"] {
        assert_eq!(duration(wrong), None, "{wrong}");
    }
}

#[test]
fn moments_are_of_utc_unless_they_say_otherwise() {
    let seconds = |text| units(moment(text)?, TimeUnit::Seconds);
    assert_eq!(seconds("2024-01-01"), Some(1_704_067_200));
    assert_eq!(seconds("2024-01-01T00:00:00"), Some(1_704_067_200));
    assert_eq!(seconds("2024-01-01T02:00:00+02:00"), Some(1_704_067_200));
    assert_eq!(seconds("yesterday"), None);
}

#[test]
fn units_hold_whole_numbers_alone() {
    assert_eq!(units(1_500_000_000, TimeUnit::Milliseconds), Some(1_500));
    assert_eq!(units(1_500_000_000, TimeUnit::Seconds), None);
    assert_eq!(units(i128::MAX, TimeUnit::Nanoseconds), None);
}

#[test]
fn rates_are_a_second() {
    assert_eq!(rate("200/s"), Some(200.0));
    assert_eq!(rate("0.5/s"), Some(0.5));
    assert_eq!(rate("30/m"), Some(0.5));
    for wrong in ["200", "0/s", "-1/s", "x/s", "1/y", "inf/s"] {
        assert_eq!(rate(wrong), None, "{wrong}");
    }
}
