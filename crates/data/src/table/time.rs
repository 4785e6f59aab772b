//! Parses times.

use jiff::SignedDuration;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;

/// The beginning of 1970, from which times are counted.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const NANOS: i128 = 1_000_000_000;

/// A time that was read: in UTC if its text has a zone, otherwise local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedTime {
    /// Nanoseconds since 1970.
    pub(super) nanos: i128,
    pub(super) has_zone: bool,
}

/// Returns what a clock shows these nanoseconds after 1970 began, up to the end of the year 9999. An
/// instant of jiff ends a day before.
pub(super) fn clock_of(nanos: i128) -> Option<DateTime> {
    EPOCH.checked_add(SignedDuration::try_from_nanos_i128(nanos)?).ok()
}

/// Parses an RFC 3339 time, such as `2004-02-28T00:59:16.02785Z`. Also accepts a blank for the `T`,
/// and a missing zone. A date alone is the beginning of the day. Seconds may be left out.
pub(super) fn parse(text: &[u8]) -> Option<ParsedTime> {
    if !matches!(text, [_, _, _, _, b'-', ..]) {
        return None;
    }
    let (text, is_utc) = match text.strip_suffix(b" UTC") {
        Some(text) => (text, true),
        None => (text, false),
    };
    // The end of a day is the beginning of the next.
    if let Some((day, [b'T' | b' ', b'2', b'4', b':', b'0', b'0', rest @ ..])) =
        text.split_at_checked(10)
    {
        let rest = rest
            .strip_prefix(b":00")
            .filter(|rest| !rest.starts_with(b"."))
            .or_else(|| (!rest.starts_with(b":")).then_some(rest))?;
        let midnight = parse(&[day, b"T00:00:00", rest].concat())?;
        let nanos = midnight.nanos + 86_400_000_000_000;
        return Some(ParsedTime { nanos, has_zone: midnight.has_zone || is_utc });
    }
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset();
    // The name of a zone next to the offset adds nothing.
    let is_named = pieces.time_zone_annotation().is_some() && offset.is_none();
    if is_named || offset.is_some_and(|offset| offset.seconds().abs() >= 86_400) {
        return None;
    }
    let clock = pieces.date().to_datetime(pieces.time().unwrap_or_else(Time::midnight));
    let east = offset.map_or(0, |offset| i128::from(offset.seconds()));
    let nanos = clock.duration_since(EPOCH).as_nanos() - east * NANOS;
    Some(ParsedTime { nanos, has_zone: is_utc || offset.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i64, u32)> {
        let nanos = parse(text.as_bytes())?.nanos;
        Some((nanos.div_euclid(NANOS) as i64, nanos.rem_euclid(NANOS) as u32))
    }

    #[test]
    fn the_last_second_of_the_year_9999_is_a_time_as_its_zone_says() {
        for (text, second) in [
            ("9999-12-31 23:59:59", 253_402_300_799),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("9999-12-31T23:59:59-01:00", 253_402_304_399),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
        ] {
            assert_eq!(read(text), Some((second, 0)), "{text}");
        }
        let last = clock_of(253_402_300_799 * NANOS).unwrap();
        assert_eq!(last.to_string(), "9999-12-31T23:59:59");
        assert_eq!(clock_of(253_402_300_800 * NANOS), None);
    }

    #[test]
    fn times_are_read_with_and_without_seconds_fraction_and_zone() {
        let second = 1_077_929_956;
        assert_eq!(read("2004-02-28 00:59:16"), Some((second, 0)));
        assert_eq!(read("2004-02-28T00:59:16Z"), Some((second, 0)));
        assert_eq!(read("2004-02-28 00:59:16 UTC"), Some((second, 0)));
        assert_eq!(read("2004-02-28 00:59:16.02785"), Some((second, 27_850_000)));
        assert_eq!(read("2004-02-28T01:59:16,5+01:00"), Some((second, 500_000_000)));
        assert_eq!(read("2004-02-27T21:29:16-0330"), Some((second, 0)));
        assert_eq!(read("2004-02-28T02:59:16+02"), Some((second, 0)));
        assert_eq!(read("2004-02-28 00:59"), Some((second - 16, 0)));
        assert_eq!(read("2004-02-28T01:59:16+01:00[Europe/Berlin]"), Some((second, 0)));
        for midnight in ["2004-02-28 24:00:00", "2004-02-28T24:00", "2004-02-28T24:00:00Z"] {
            assert_eq!(read(midnight), read("2004-02-29"), "{midnight}");
        }
        let zones =
            ["2004-02-28", "2004-02-28 00:59Z", "2004-02-28 00:59 UTC", "2004-02-28 00:59-01"];
        let has_zone = zones.map(|text| parse(text.as_bytes()).unwrap().has_zone);
        assert_eq!(has_zone, [false, true, true, true]);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let texts = [
            "",
            "2004",
            "2004-2-8",
            "2004-02-30",
            "2003-02-29",
            "1900-02-29",
            "2004-13-01",
            "2004-00-01",
            "2004-01-00",
            "2004-01-01 24:00:01",
            "2004-01-01 24:01",
            "2004-01-01 00:60",
            "2004-01-01T",
            "2004-01-01 00:00:61",
            "2004-01-01 00:00:00.",
            "2004-01-01 00:00:00+25:00",
            "2004-01-01 00:00:00 CET",
            "20040101T000000",
            "2004-01-01X00:00:00",
        ];
        for text in texts {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
