//! Lengths of time, times and rates as they are written.

use embermark_model::table::TimeUnit;
use jiff::Timestamp;

/// How to write a length of time.
pub const DURATION_HELP: &str =
    "write a whole number and one of ns, us, ms, s, m, h, d, w: \"30s\", \"1h\", \"7d\"";

/// How to write a time, as in RFC 3339.
pub const MOMENT_HELP: &str = "write a day or a moment: \"2024-01-31\", \"2024-01-31T12:00:00Z\"";

const SECOND: i128 = 1_000_000_000;

const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3_600 * SECOND),
    ("d", 86_400 * SECOND),
    ("w", 604_800 * SECOND),
];

/// Returns the nanoseconds of a length of time such as `30s`, above 0.
pub fn duration(text: &str) -> Option<i128> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: i64 = text[..digits].parse().ok().filter(|count| *count > 0)?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == &text[digits..])?;
    Some(i128::from(count) * unit)
}

/// Returns the nanoseconds since 1970-01-01 UTC of a time, or of the beginning of a day.
pub fn moment(text: &str) -> Option<i128> {
    let moment = text.parse::<Timestamp>().ok().or_else(|| {
        // A date alone, or a time without an offset, is taken as UTC.
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })?;
    Some(moment.as_nanosecond())
}

/// Converts nanoseconds to a unit. `None` if that is not a whole number.
pub fn units(nanoseconds: i128, unit: TimeUnit) -> Option<i64> {
    let each = SECOND / i128::from(unit.per_second());
    (nanoseconds % each == 0).then(|| i64::try_from(nanoseconds / each).ok()).flatten()
}

/// Returns the operations per second of a rate such as `200/s`, `1/m` or `0.5/s`, above 0.
pub fn rate(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    let rate = count.trim().parse::<f64>().ok()? * SECOND as f64 / *unit as f64;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
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
}
