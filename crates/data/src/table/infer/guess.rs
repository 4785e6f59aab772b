//! Which type all values of a field fit.

use embermark_model::table::{ColumnType, TimeUnit};

use super::names;
use crate::table::fault::Fault;
use crate::table::fit::whole;
use crate::table::record::Field;
use crate::table::time;

/// The share of numbers that may be not finite in a field of numbers, of which there are texts.
const NOT_FINITE: f64 = 0.01;
/// Seconds from 1970 to the years 1990 and 2100.
const YEARS: (i64, i64) = (631_152_000, 4_102_444_800);
const UNITS: [TimeUnit; 4] =
    [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

/// What the values of a field could be, judged by those seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    seen: u64,
    bools: bool,
    ints: bool,
    floats: bool,
    /// Texts of times, or times.
    times: bool,
    texts: bool,
    /// Whether they came as numbers, which no text is.
    typed: bool,
    not_finite: u64,
    least: i64,
    greatest: i64,
    last: i64,
    /// Integers that are less than the one before.
    descents: u64,
    /// The finest unit of the times, as a place in [`UNITS`].
    finest: usize,
}

impl Default for Guess {
    fn default() -> Self {
        Self {
            seen: 0,
            bools: true,
            ints: true,
            floats: true,
            times: true,
            texts: true,
            typed: false,
            not_finite: 0,
            least: i64::MAX,
            greatest: i64::MIN,
            last: i64::MIN,
            descents: 0,
            finest: 0,
        }
    }
}

impl Guess {
    /// Values that are not absent.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    #[inline]
    pub(super) fn take(&mut self, field: Field<'_>) {
        if field == Field::Absent {
            return;
        }
        self.seen += 1;
        match field {
            Field::Absent => {}
            Field::Text(text) => self.take_text(text),
            Field::Bool(_) => {
                self.typed = true;
                (self.ints, self.floats, self.times) = (false, false, false);
            }
            Field::Int(value) => {
                self.typed = true;
                (self.bools, self.times) = (false, false);
                self.take_int(value);
            }
            Field::Float(value) => {
                self.typed = true;
                (self.bools, self.ints, self.times) = (false, false, false);
                self.not_finite += u64::from(!value.is_finite());
            }
            Field::Time { per_second, .. } => {
                self.typed = true;
                (self.bools, self.ints, self.floats) = (false, false, false);
                let unit = UNITS.iter().position(|unit| unit.per_second() == per_second);
                self.finest = self.finest.max(unit.unwrap_or(UNITS.len() - 1));
            }
        }
    }

    #[inline]
    fn take_text(&mut self, text: &[u8]) {
        let trimmed = text.trim_ascii();
        if self.bools {
            self.bools =
                trimmed.eq_ignore_ascii_case(b"true") || trimmed.eq_ignore_ascii_case(b"false");
        }
        if self.ints {
            match whole(trimmed) {
                Ok(value) if !is_padded(trimmed) => {
                    self.take_int(value);
                    self.times = false;
                    return;
                }
                // What is too large or padded is a number of something: no float keeps its digits.
                Ok(_) | Err(Fault::OutOfRange) => (self.ints, self.floats) = (false, false),
                Err(_) => self.ints = false,
            }
        }
        if self.floats {
            match fast_float2::parse::<f64, _>(trimmed) {
                Ok(_) if is_padded(trimmed) => self.floats = false,
                Ok(value) => self.not_finite += u64::from(!value.is_finite()),
                Err(_) => self.floats = false,
            }
        }
        if self.times {
            match time::parse(trimmed) {
                Some(time) => self.finest = self.finest.max(unit_of(time.nanos)),
                None => self.times = false,
            }
        }
        if self.texts && !self.times && !self.floats {
            self.texts = str::from_utf8(text).is_ok() && memchr::memchr(0, text).is_none();
        }
    }

    #[inline]
    fn take_int(&mut self, value: i64) {
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self.descents += u64::from(value < self.last);
        self.last = value;
    }

    /// The type of a field of that name.
    pub(super) fn column_type(&self, name: &str) -> ColumnType {
        let few = self.not_finite as f64 <= NOT_FINITE * self.seen as f64;
        if self.seen == 0 {
            ColumnType::Text
        } else if self.bools {
            ColumnType::Bool
        } else if self.times {
            ColumnType::Timestamp(UNITS[self.finest])
        } else if self.ints {
            match self.unit_of_ints(name) {
                Some(unit) => ColumnType::Timestamp(unit),
                None => integer(self.least, self.greatest),
            }
        } else if self.floats && (self.typed || few) {
            ColumnType::Float
        } else if self.texts && !self.typed {
            ColumnType::Text
        } else {
            ColumnType::Bytes
        }
    }

    /// The unit in which the integers are times, if they are.
    fn unit_of_ints(&self, name: &str) -> Option<TimeUnit> {
        let ascend = self.greatest > self.least && self.descents <= self.seen / 100;
        let unit = UNITS.into_iter().find(|unit| {
            let (from, to) = (YEARS.0 * unit.per_second(), YEARS.1.checked_mul(unit.per_second()));
            (from..=to.unwrap_or(i64::MAX)).contains(&self.least)
                && self.greatest <= to.unwrap_or(i64::MAX)
        });
        unit.filter(|_| ascend || names::is_time(name))
    }
}

/// Whether a number has zeros in front, as what is no quantity may have.
fn is_padded(number: &[u8]) -> bool {
    matches!(number, [b'0', b'0'..=b'9', ..] | [b'-' | b'+', b'0', b'0'..=b'9', ..])
}

/// The coarsest unit that has a number of nanoseconds whole, as a place in [`UNITS`].
fn unit_of(nanos: u32) -> usize {
    match nanos {
        0 => 0,
        nanos if nanos % 1_000_000 == 0 => 1,
        nanos if nanos % 1_000 == 0 => 2,
        _ => 3,
    }
}

/// The narrowest type of integers with room for twice these.
fn integer(least: i64, greatest: i64) -> ColumnType {
    let signed = least < 0;
    let room = |bits: u8| {
        let most = 1_i64 << (bits - 1 - u8::from(signed));
        greatest < most && least >= -most
    };
    let bits = [16, 32].into_iter().find(|&bits| room(bits)).unwrap_or(64);
    ColumnType::Int { bits, signed }
}
