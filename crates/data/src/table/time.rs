//! Texts of times.

/// A time: seconds since 1970-01-01 UTC, and nanoseconds after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) seconds: i64,
    pub(super) nanos: u32,
    /// Whether digits beyond the nanosecond were cut off.
    pub(super) cut: bool,
    /// Whether the text says of which zone it is.
    pub(super) has_zone: bool,
}

/// Reads a time as RFC 3339 has it, such as `2004-02-28T00:59:16.02785Z`; with a blank for the `T`
/// too, and without a zone, which is taken as UTC. A day alone is its beginning; seconds may be
/// left out.
pub(super) fn parse(text: &[u8]) -> Option<Time> {
    let &[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0, ref rest @ ..] = text else { return None };
    let year = 100 * two(y3, y2)? + two(y1, y0)?;
    let day = days(year, two(m1, m0)?, two(d1, d0)?)?;
    let midnight = Time { seconds: 86_400 * day, nanos: 0, cut: false, has_zone: false };
    let &[b'T' | b't' | b' ', h1, h0, b':', m1, m0, ref rest @ ..] = rest else {
        return rest.is_empty().then_some(midnight);
    };
    let (second, rest) = match rest {
        &[b':', s1, s0, ref rest @ ..] => (two(s1, s0)?, rest),
        _ => (0, rest),
    };
    let (hour, minute) = (two(h1, h0)?, two(m1, m0)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (nanos, cut, rest) = match rest {
        [b'.' | b',', rest @ ..] => fraction(rest)?,
        _ => (0, false, rest),
    };
    let seconds = midnight.seconds + 3_600 * hour + 60 * minute + second - offset(rest)?;
    Some(Time { seconds, nanos, cut, has_zone: !rest.is_empty() })
}

/// The digits of a fraction in nanoseconds, whether more digits but zeros follow these, and the
/// rest.
fn fraction(text: &[u8]) -> Option<(u32, bool, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    let (near, beyond) = digits.split_at(length.min(9));
    let nanos = near.iter().fold(0, |sum, digit| 10 * sum + u32::from(digit - b'0'));
    let cut = beyond.iter().any(|&digit| digit != b'0');
    (length > 0).then(|| (nanos * 10_u32.pow(9 - near.len() as u32), cut, rest))
}

/// Seconds that a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let ahead = |sign, h1, h0, m1, m0| {
        let (hours, minutes) = (two(h1, h0)?, two(m1, m0)?);
        let seconds = 3_600 * hours + 60 * minutes;
        (hours < 24 && minutes < 60).then_some(if sign == b'-' { -seconds } else { seconds })
    };
    match *zone {
        [] | [b'Z' | b'z'] | [b' ', b'U', b'T', b'C'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h0, b':', m1, m0] | [sign @ (b'+' | b'-'), h1, h0, m1, m0] => {
            ahead(sign, h1, h0, m1, m0)
        }
        [sign @ (b'+' | b'-'), h1, h0] => ahead(sign, h1, h0, b'0', b'0'),
        _ => None,
    }
}

/// The value of two digits.
#[inline]
fn two(tens: u8, ones: u8) -> Option<i64> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i64::from(10 * tens + ones))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, so that
/// the day that leap years have more is their last.
#[inline]
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = if month > 2 { year } else { year - 1 };
    // March to July and August to December are 153 days each.
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days from 0000-03-01 to 1970-01-01.
    Some(365 * year + leap_days + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i64, u32)> {
        parse(text.as_bytes()).map(|time| (time.seconds, time.nanos))
    }

    #[test]
    fn every_day_of_eight_centuries_is_where_another_calendar_has_it() {
        let mut day = jiff::civil::date(1600, 1, 1);
        while day.year() < 2400 {
            let expected = day.since(jiff::civil::date(1970, 1, 1)).unwrap().get_days();
            assert_eq!(read(&day.to_string()), Some((86_400 * i64::from(expected), 0)), "{day}");
            day = day.tomorrow().unwrap();
        }
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
        assert!(parse(b"2004-02-28 00:59:16.0000000001").unwrap().cut);
        assert!(!parse(b"2004-02-28 00:59:16.0000000010").unwrap().cut);
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
            "2004-01-01 24:00:00",
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
