//! One line of the log to one reading.

use std::num::IntErrorKind;

use embermark_model::Reading;

use super::fault::Fault;
use super::{number, word};
use crate::calendar::{DAY, SECOND, days_from_epoch};

/// Parses lines; remembers the day of the last one, since most lines have the same.
#[derive(Debug)]
pub(super) struct LineParser {
    date: [u8; 10],
    midnight: i64,
    /// Lines whose timestamp had digits beyond the microsecond, which are cut off.
    pub(super) finer_than_microseconds: u64,
    /// Lines without an epoch, which no reading needs.
    pub(super) without_epoch: u64,
}

impl LineParser {
    pub(super) const fn new() -> Self {
        Self { date: *b"1970-01-01", midnight: 0, finer_than_microseconds: 0, without_epoch: 0 }
    }

    /// Parses a line without its end.
    #[inline]
    pub(super) fn parse(&mut self, line: &[u8]) -> Result<Reading, Fault> {
        self.fields(line).map_err(|met| Fault::of(line, met))
    }

    #[inline]
    fn fields(&mut self, line: &[u8]) -> Result<Reading, Fault> {
        let (ts, finer, at) = self.timestamp(line)?;
        let (has_epoch, at) = epoch(line, at)?;
        let (sensor, mut at) = mote(line, at)?;
        let mut reading = Reading { ts, sensor, ..Reading::default() };
        for column in 0..Reading::COLUMNS.len() {
            let (value, end) = number::field(line, at)?;
            if let Some(value) = value {
                reading.values[column] = value;
                reading.present |= 1 << column;
            }
            match (end == line.len(), column + 1 == Reading::COLUMNS.len()) {
                (true, false) => return Err(Fault::MissingFields),
                (false, true) => return Err(Fault::ExtraFields),
                _ => at = end + 1,
            }
        }
        self.finer_than_microseconds += u64::from(finer);
        self.without_epoch += u64::from(!has_epoch);
        Ok(reading)
    }

    /// `YYYY-MM-DD HH:MM:SS[.fraction] ` at the beginning: microseconds since 1970, whether digits
    /// beyond the microsecond were cut off, and the place after the space.
    #[inline]
    fn timestamp(&mut self, line: &[u8]) -> Result<(i64, bool, usize), Fault> {
        let (date, rest) = line.split_first_chunk::<10>().ok_or(Fault::Timestamp)?;
        let (clock, _) = rest.split_first_chunk::<10>().ok_or(Fault::Timestamp)?;
        if *date != self.date {
            self.midnight = midnight(date).ok_or(Fault::Timestamp)?;
            self.date = *date;
        }
        let [b' ', h1, h0, b':', m1, m0, b':', s1, s0, after] = *clock else {
            return Err(Fault::Timestamp);
        };
        let (hours, minutes, seconds) =
            (two_digits(h1, h0), two_digits(m1, m0), two_digits(s1, s0));
        if hours > 23 || minutes > 59 || seconds > 59 {
            return Err(Fault::Timestamp);
        }
        let second = self.midnight + (hours * 3_600 + minutes * 60 + seconds) * SECOND;
        match after {
            b' ' => Ok((second, false, 20)),
            b'.' => {
                let (micros, finer, end) = fraction(line, 20).ok_or(Fault::Timestamp)?;
                Ok((second + micros, finer, end))
            }
            _ => Err(Fault::Timestamp),
        }
    }
}

/// Microseconds from 1970 to the beginning of a day.
fn midnight(date: &[u8; 10]) -> Option<i64> {
    let &[y3, y2, y1, y0, b'-', m1, m0, b'-', d1, d0] = date else { return None };
    let (century, year) = (two_digits(y3, y2), two_digits(y1, y0));
    if century > 99 || year > 99 {
        return None;
    }
    Some(days_from_epoch(century * 100 + year, two_digits(m1, m0), two_digits(d1, d0))? * DAY)
}

/// The value of two digits, or more than 99 where one is not a digit.
#[inline]
fn two_digits(tens: u8, ones: u8) -> i64 {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    if tens < 10 && ones < 10 { i64::from(tens * 10 + ones) } else { 100 }
}

/// `digits ` behind the point of a second: microseconds, whether there were digits beyond them,
/// and the place after the space.
#[inline]
fn fraction(line: &[u8], at: usize) -> Option<(i64, bool, usize)> {
    const UNITS: [i64; 7] = [SECOND, 100_000, 10_000, 1_000, 100, 10, 1];
    let word = word::load(line, at);
    let mut count = word::find(word, b' ');
    let kept = count.min(6);
    let micros = if kept == 0 { 0 } else { word::number(word, kept)? as i64 * UNITS[kept] };
    if count > 6 {
        count = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    (line.get(at + count) == Some(&b' ')).then_some((micros, count > 6, at + count + 1))
}

/// Skips `digits `: whether there are any, and the place after the space.
#[inline]
fn epoch(line: &[u8], at: usize) -> Result<(bool, usize), Fault> {
    let word = word::load(line, at);
    let mut count = word::find(word, b' ');
    if count == 8 {
        count = line[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    } else if count > 0 && word::number(word, count).is_none() {
        return Err(Fault::Epoch);
    }
    match line.get(at + count) {
        Some(b' ') => Ok((count > 0, at + count + 1)),
        Some(_) => Err(Fault::Epoch),
        None => Err(Fault::MissingFields),
    }
}

/// Reads `digits `: the mote id and the place after the space.
#[inline]
fn mote(line: &[u8], at: usize) -> Result<(u16, usize), Fault> {
    let word = word::load(line, at);
    let count = word::find(word, b' ');
    let id = match count {
        0 if line.len() > at => return Err(Fault::NoMote),
        1..8 => word::number(word, count).and_then(|id| u16::try_from(id).ok()).unwrap_or(0),
        _ => 0,
    };
    if id == 0 {
        return unusual_mote(line, at);
    }
    if at + count == line.len() { Err(Fault::MissingFields) } else { Ok((id, at + count + 1)) }
}

/// Mote ids that are none, or are written oddly.
#[cold]
fn unusual_mote(line: &[u8], at: usize) -> Result<(u16, usize), Fault> {
    let rest = line.get(at..).unwrap_or_default();
    let length = memchr::memchr(b' ', rest).ok_or(Fault::MissingFields)?;
    let field = str::from_utf8(&rest[..length]).map_err(|_| Fault::MoteNotANumber)?;
    match field.parse::<i64>() {
        Ok(id) => match u16::try_from(id) {
            Ok(sensor @ 1..) => Ok((sensor, at + length + 1)),
            _ => Err(Fault::MoteOutOfRange),
        },
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Err(Fault::MoteOutOfRange),
            _ => Err(Fault::MoteNotANumber),
        },
    }
}
