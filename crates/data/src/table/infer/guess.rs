//! Statistics on the values of a field, from which its type is inferred.

pub(super) mod field_type;
mod numerals;
mod words;

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::TimeUnit;

use self::words::Words;
use crate::table::absent::is_marker;
use crate::table::fault::Fault;
use crate::table::number::{boolean, whole};
use crate::table::time;

/// Share of values that may not match their column.
pub(super) const MISFITS: f64 = 0.01;
/// Seconds from 1970 to the years 1990 and 2100.
pub(super) const YEARS: (i64, i64) = (631_152_000, 4_102_444_800);
pub(super) const UNITS: [TimeUnit; 4] =
    [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];
/// Number of different texts that are remembered per field.
const TEXTS: usize = 256;
/// Numbers that represent a missing value in some files, if they are far from all others.
const SENTINELS: [f64; 16] = [
    -99.0, -999.0, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, -99.9, -999.9,
    999.9, -9999.9, 9999.9, -32768.0, 65535.0,
];

/// Counts of the values of a field that could have each type.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    pub(super) seen: u64,
    /// Number of values of each kind.
    bools: u64,
    /// Whether both truth values occur, or one that is not a single letter, `yes` or `no`.
    both: u8,
    ints: u64,
    /// Numbers with a fraction or an exponent, and those that are not finite.
    floats: u64,
    not_finite: u64,
    /// Numbers that are not one, and the positive and negative infinities.
    unreal: [u64; 3],
    /// Numbers that a double would change.
    inexact: u64,
    /// Whole numbers with leading zeros, and the first of them.
    padded: u64,
    first_padded: Vec<u8>,
    /// Numbers with a comma before the fraction, or between groups of digits.
    commas: u64,
    groups: u64,
    /// Numbers with a comma before the fraction and points between groups of digits.
    pub(super) points: u64,
    /// Numbers in which points may separate groups of digits, and those that are also numbers with
    /// a fraction.
    point_groups: u64,
    grouped_floats: u64,
    /// Texts of RFC 3339 times, or times; those with a zone; and those after [`YEARS`].
    times: u64,
    zoned: u64,
    endless: u64,
    /// All other texts.
    others: u64,
    /// Values with a NUL, or that are not UTF-8.
    pub(super) not_texts: u64,
    /// Values that are not texts.
    typed: u64,
    /// Least and greatest integer without sentinels.
    whole: Option<(i64, i64)>,
    last: i64,
    /// Integers that are less than the previous one.
    descents: u64,
    /// Integers in the years 1990 to 2100, by unit, and numbers with a fraction as seconds.
    in_years: [u64; 4],
    seconds: u64,
    /// Largest number of digits of a fraction.
    digits: usize,
    /// Finest unit of the times, as an index of [`UNITS`].
    finest: usize,
    /// Whether a time has more than a date.
    has_hours: bool,
    /// Least and greatest number without sentinels, and how often each sentinel occurs.
    pub(super) range: Option<(f64, f64)>,
    sentinels: [u64; SENTINELS.len()],
    /// Texts that are neither number nor time nor truth value, and numbers that are not finite.
    words: Words,
    /// The first texts, without consecutive repetitions.
    texts: Vec<Vec<u8>>,
}

/// Removes the NULs before a cell's text.
pub(super) fn without_nuls(cell: Cell<'_>) -> Cell<'_> {
    match cell {
        Cell::Text(text) => match text.iter().position(|byte| *byte != 0) {
            None => Cell::Null,
            Some(zeros) => Cell::Text(&text[zeros..]),
        },
        other => other,
    }
}

impl Guess {
    #[inline]
    pub(super) fn take(&mut self, cell: Cell<'_>) {
        self.typed += u64::from(!matches!(cell, Cell::Null | Cell::Text(_)));
        match cell {
            Cell::Null => return,
            Cell::Text(text) => self.take_text(text),
            Cell::Bool(_) => (self.bools, self.both) = (self.bools + 1, 3),
            Cell::Int(value) => self.take_int(value),
            Cell::Unsigned(value) => match i64::try_from(value) {
                Ok(value) => self.take_int(value),
                Err(_) => self.others += 1,
            },
            Cell::Float(value) => self.take_float(value),
            Cell::Micros(value) => self.take_time(value, 1_000_000),
            Cell::Instant(value) => {
                self.zoned += 1;
                self.take_time(value, 1_000_000);
            }
            Cell::Nanos(value) => self.take_time(value, 1_000_000_000),
        }
        self.seen += 1;
    }

    #[inline]
    fn take_text(&mut self, text: &[u8]) {
        let trimmed = text.trim_ascii();
        if self.texts.len() < TEXTS && self.texts.last().is_none_or(|last| last != trimmed) {
            self.texts.push(trimmed.to_owned());
        }
        if numerals::is_padded(trimmed) || numerals::is_phone(trimmed) {
            if whole(trimmed) != Err(Fault::NotWhole) && !trimmed.starts_with(b"+") {
                if self.padded == 0 {
                    trimmed.clone_into(&mut self.first_padded);
                }
                self.padded += 1;
            }
            return self.take_word(text);
        }
        match whole(trimmed) {
            Ok(value) => return self.take_int(value),
            // A number that is too large identifies something: no float keeps its digits.
            Err(Fault::OutOfRange) => return self.take_word(text),
            Err(_) => {}
        }
        if let Ok(value) = fast_float2::parse::<f64, _>(trimmed) {
            let fraction = trimmed.iter().position(|byte| *byte == b'.');
            self.digits = self.digits.max(fraction.map_or(0, |point| trimmed.len() - point - 1));
            let is_grouped = numerals::is_grouped(trimmed, b'.');
            self.point_groups += u64::from(is_grouped);
            self.grouped_floats += u64::from(is_grouped);
            let whole_part = fraction.map_or(Ok(0), |point| whole(&trimmed[..point]));
            let is_changed = whole_part.map_or_else(|fault| fault == Fault::OutOfRange, is_inexact);
            self.inexact += u64::from(is_changed);
            if !value.is_finite() {
                self.words.take(trimmed);
            }
            return self.take_float(value);
        }
        if let Some(time) = time::parse(trimmed) {
            self.times += 1;
            self.zoned += u64::from(time.has_zone);
            self.endless += u64::from(time.nanos >= i128::from(YEARS.1) * 1_000_000_000);
            self.finest = self.finest.max(unit_of(time.nanos));
            self.has_hours |= trimmed.len() > 10;
        } else if let Some(value) = boolean(trimmed) {
            self.bools += 1;
            self.both |= if value { 1 } else { 2 } | if trimmed.len() > 3 { 3 } else { 0 };
        } else {
            self.take_other(text);
        }
    }

    /// Counts a number with separators, or a word.
    fn take_other(&mut self, text: &[u8]) {
        let trimmed = text.trim_ascii();
        let has_comma = numerals::has_decimal_comma(trimmed);
        let has_groups = numerals::is_grouped(trimmed, b',');
        let has_point_groups = numerals::is_grouped(trimmed, b'.');
        self.groups += u64::from(has_groups);
        self.commas += u64::from(has_comma);
        self.points += u64::from(has_comma && trimmed.contains(&b'.'));
        self.point_groups += u64::from(has_point_groups);
        match has_comma || has_groups || has_point_groups {
            // There may be too many to remember.
            true => self.others += 1,
            false => self.take_word(text),
        }
    }

    fn take_word(&mut self, text: &[u8]) {
        self.others += 1;
        let is_text = str::from_utf8(text).is_ok() && memchr::memchr(0, text).is_none();
        self.not_texts += u64::from(!is_text);
        self.words.take(text.trim_ascii());
    }

    #[inline]
    fn take_int(&mut self, value: i64) {
        self.ints += 1;
        self.inexact += u64::from(is_inexact(value));
        self.descents += u64::from(value < self.last && self.ints > 1);
        self.last = value;
        for (unit, count) in UNITS.into_iter().zip(&mut self.in_years) {
            *count += u64::from(in_years(value, unit));
        }
        if self.take_number(value as f64) {
            let (least, greatest) = self.whole.unwrap_or((value, value));
            self.whole = Some((least.min(value), greatest.max(value)));
        }
    }

    fn take_float(&mut self, value: f64) {
        self.floats += 1;
        if value.is_finite() {
            let is_back = value < self.last as f64 && self.floats > 1;
            self.descents += u64::from(is_back);
            self.last = value as i64;
            self.seconds += u64::from((YEARS.0 as f64..YEARS.1 as f64).contains(&value));
            self.take_number(value);
        } else {
            self.not_finite += 1;
            let kind = if value.is_nan() { 0 } else { 1 + usize::from(value < 0.0) };
            self.unreal[kind] += 1;
        }
    }

    /// Widens the range by a number unless it is a sentinel. Returns whether it did.
    #[inline]
    fn take_number(&mut self, value: f64) -> bool {
        let is_like = value.abs() >= 99.0;
        if is_like && let Some(at) = SENTINELS.iter().position(|other| *other == value) {
            self.sentinels[at] += 1;
            return false;
        }
        self.range = Some(match self.range {
            None => (value, value),
            Some((least, greatest)) => (least.min(value), greatest.max(value)),
        });
        true
    }

    fn take_time(&mut self, value: i64, per_second: i64) {
        self.times += 1;
        let nanos = i128::from(value) * i128::from(1_000_000_000 / per_second);
        self.finest = self.finest.max(unit_of(nanos));
        self.has_hours = true;
    }

    /// Returns different texts among the first.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts.iter().filter_map(|text| str::from_utf8(text).ok());
        texts.filter(|text| !text.is_empty() && !is_marker(text))
    }

    /// Whether numbers have a point before a fraction, and not only points that may separate
    /// groups of digits.
    pub(super) fn has_decimal_points(&self) -> bool {
        self.digits > 0 && !self.may_group_by_points()
    }

    /// Whether every point in a number may separate groups of three digits.
    pub(super) fn may_group_by_points(&self) -> bool {
        self.point_groups > 0 && self.grouped_floats == self.floats - self.not_finite
    }

    /// Whether all values are whole numbers, of which some have several groups of three digits.
    pub(super) fn has_only_point_groups(&self) -> bool {
        self.point_groups > self.grouped_floats && self.point_groups + self.ints == self.seen
    }

    /// Whether every comma in a number may separate groups of three digits or begin a fraction.
    pub(super) fn has_doubtful_commas(&self) -> bool {
        self.commas > 0 && self.groups == self.commas && self.points == 0
    }

    /// Whether values have digits that a number would not keep.
    pub(super) fn has_codes(&self) -> bool {
        self.padded > 0 || self.floats > 0 && self.inexact > 0
    }

    /// Returns the least and greatest of whole numbers that are texts, without sentinels.
    pub(super) fn whole_range(&self) -> Option<(i64, i64)> {
        self.whole.filter(|_| self.typed == 0)
    }

    /// Whether the first texts are times of day with hours and minutes, and some are 24:00.
    pub(super) fn are_clocks_to_24(&self) -> bool {
        let is_clock = |text: &str| {
            text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        };
        self.texts().all(is_clock) && self.texts().any(|text| text.starts_with("24:00"))
    }

    /// Whether any value is a text.
    pub(super) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns the unit of the times, if all values are texts of times.
    pub(super) fn unit_of_all(&self) -> Option<TimeUnit> {
        (self.times == self.seen && self.has_texts()).then(|| UNITS[self.finest])
    }

    /// Returns a text that is no time: among the first ones, or the most frequent word.
    pub(super) fn not_a_time(&self) -> Option<String> {
        let mut texts = self.texts();
        let first = texts.find(|text| time::parse(text.as_bytes()).is_none());
        first.map(str::to_owned).or_else(|| self.words.most_frequent())
    }

    /// Whether there are times, and none has a zone.
    pub(super) fn are_local(&self) -> bool {
        self.times > 0 && self.zoned == 0
    }

    /// Whether the values are dates without times.
    pub(super) fn is_days(&self) -> bool {
        self.times > 0 && !self.has_hours
    }
}

/// Whether a double changes a whole number.
const fn is_inexact(value: i64) -> bool {
    value as f64 as i128 != value as i128
}

fn in_years(value: i64, unit: TimeUnit) -> bool {
    let per_second = unit.per_second();
    let to = YEARS.1.checked_mul(per_second).unwrap_or(i64::MAX);
    (YEARS.0 * per_second..=to).contains(&value)
}

/// Returns the coarsest unit that represents a number of nanoseconds exactly, as an index of
/// [`UNITS`].
fn unit_of(nanos: i128) -> usize {
    let is_whole = |unit: &TimeUnit| nanos % i128::from(1_000_000_000 / unit.per_second()) == 0;
    UNITS.iter().position(is_whole).unwrap_or(UNITS.len() - 1)
}
