//! Lengths of time, moments and rates as they are written.

use embermark_model::table::TimeUnit;
use jiff::Timestamp;

/// How a length of time is written.
pub const DURATION_HELP: &str =
    "write a whole number and one of ns, us, ms, s, m, h, d, w: \"30s\", \"1h\", \"7d\"";

/// How a moment is written, as in RFC 3339.
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

/// Nanoseconds of a length of time such as `30s`, above 0.
pub fn duration(text: &str) -> Option<i128> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let count: i64 = text[..digits].parse().ok().filter(|count| *count > 0)?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == &text[digits..])?;
    Some(i128::from(count) * unit)
}

/// Nanoseconds since 1970-01-01 UTC of a moment or of the beginning of a day.
pub fn moment(text: &str) -> Option<i128> {
    let moment = text.parse::<Timestamp>().ok().or_else(|| {
        // A day alone, or a moment without an offset, is taken in UTC.
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        civil.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })?;
    Some(moment.as_nanosecond())
}

/// Nanoseconds in a unit; `None` where that is not a whole number of them.
pub fn units(nanoseconds: i128, unit: TimeUnit) -> Option<i64> {
    let each = SECOND / i128::from(unit.per_second());
    (nanoseconds % each == 0).then(|| i64::try_from(nanoseconds / each).ok()).flatten()
}

/// Operations a second of a rate such as `200/s`, `1/m` or `0.5/s`, above 0.
pub fn rate(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    let rate = count.trim().parse::<f64>().ok()? * SECOND as f64 / *unit as f64;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests;
