//! Parses one line of the log as one reading.

use std::num::IntErrorKind;

use embermark_model::Reading;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use super::fault::Fault;
use crate::log::SECOND;

/// Parser of log lines. It remembers the day of the last line, because most lines have the same.
#[derive(Debug)]
pub(super) struct LineParser {
    date: [u8; 10],
    midnight: i64,
    /// Number of lines whose timestamp had digits beyond the microsecond, which are cut off.
    pub(super) finer_than_microseconds: u64,
    /// Number of lines without an epoch, which no reading needs.
    pub(super) without_epoch: u64,
}

impl LineParser {
    pub(super) const fn new() -> Self {
        Self { date: *b"1970-01-01", midnight: 0, finer_than_microseconds: 0, without_epoch: 0 }
    }

    /// Parses a line without its line end.
    #[inline]
    pub(super) fn parse(&mut self, line: &[u8]) -> Result<Reading, Fault> {
        self.fields(line).map_err(|met| Fault::classify(line, met))
    }

    #[inline]
    fn fields(&mut self, line: &[u8]) -> Result<Reading, Fault> {
        let (date, rest) = line.split_first_chunk().ok_or(Fault::Timestamp)?;
        let midnight = self.midnight(date).ok_or(Fault::Timestamp)?;
        let (micros, finer, rest) = time_of_day(rest).ok_or(Fault::Timestamp)?;
        let (epoch, rest) = digits(rest);
        let rest = rest.strip_prefix(b" ").ok_or(Fault::Epoch)?;
        let end = memchr::memchr(b' ', rest).ok_or(Fault::MissingFields)?;
        let (sensor, mut rest) = (sensor(&rest[..end])?, &rest[end + 1..]);
        let mut reading = Reading { ts: midnight + micros, sensor, ..Reading::default() };
        for column in 0..Reading::COLUMNS.len() {
            if column > 0 {
                rest = rest.strip_prefix(b" ").ok_or(Fault::MissingFields)?;
            }
            if !matches!(rest, [] | [b' ', ..]) {
                (reading.values[column], rest) = number(rest)?;
                reading.present |= 1 << column;
            }
        }
        if !rest.is_empty() {
            return Err(Fault::ExtraFields);
        }
        self.finer_than_microseconds += u64::from(finer);
        self.without_epoch += u64::from(epoch.is_empty());
        Ok(reading)
    }

    /// Returns the microseconds from 1970 to the beginning of a day, `YYYY-MM-DD`.
    #[inline]
    fn midnight(&mut self, date: &[u8; 10]) -> Option<i64> {
        if self.date != *date {
            self.midnight = midnight(date)?;
            self.date = *date;
        }
        Some(self.midnight)
    }
}

fn midnight(date: &[u8; 10]) -> Option<i64> {
    let &[_, _, _, _, b'-', _, _, b'-', _, _] = date else { return None };
    let date: Date = str::from_utf8(date).ok()?.parse().ok()?;
    let midnight = Offset::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok()?;
    (date.year() > 0).then(|| midnight.as_microsecond())
}

/// Parses ` HH:MM:SS[.fraction] `. Returns the microseconds, whether there were digits beyond them,
/// and the rest.
#[inline]
fn time_of_day(text: &[u8]) -> Option<(i64, bool, &[u8])> {
    let &[b' ', h1, h0, b':', m1, m0, b':', s1, s0, ref rest @ ..] = text else { return None };
    let (hours, minutes, seconds) = (two_digits(h1, h0), two_digits(m1, m0), two_digits(s1, s0));
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let (mut micros, mut unit) = ((hours * 3_600 + minutes * 60 + seconds) * SECOND, SECOND);
    let (fraction, rest) = rest.strip_prefix(b".").map_or((&[][..], rest), digits);
    for digit in fraction {
        unit /= 10;
        micros += i64::from(digit - b'0') * unit;
    }
    Some((micros, fraction.len() > 6, rest.strip_prefix(b" ")?))
}

/// Returns the digits at the beginning of a text, and the rest.
#[inline]
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Returns the value of two digits, or more than 99 if one is not a digit.
#[inline]
fn two_digits(tens: u8, ones: u8) -> i64 {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    if tens < 10 && ones < 10 { i64::from(tens * 10 + ones) } else { 100 }
}

#[inline]
fn sensor(field: &[u8]) -> Result<u16, Fault> {
    if field.is_empty() {
        return Err(Fault::NoMote);
    }
    let field = str::from_utf8(field).map_err(|_| Fault::MoteNotANumber)?;
    match field.parse::<i64>() {
        Ok(id) => u16::try_from(id).ok().filter(|&id| id > 0).ok_or(Fault::MoteOutOfRange),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Err(Fault::MoteOutOfRange),
            _ => Err(Fault::MoteNotANumber),
        },
    }
}

/// Returns the number at the beginning of a text, to the nearest double, and the rest, which begins
/// with a space or is empty.
#[inline]
fn number(text: &[u8]) -> Result<(f64, &[u8]), Fault> {
    let (value, length) =
        fast_float2::parse_partial::<f64, _>(text).map_err(|_| Fault::NotANumber)?;
    match &text[length..] {
        rest @ ([] | [b' ', ..]) if value.is_finite() => Ok((value, rest)),
        [] | [b' ', ..] => Err(Fault::NotFinite),
        _ => Err(Fault::NotANumber),
    }
}
