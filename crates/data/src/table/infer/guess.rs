//! Which type all values of a field fit.

use std::collections::HashMap;

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::{ColumnType, TimeUnit};

use super::names;
use crate::table::absent::is_marker;
use crate::table::fault::Fault;
use crate::table::fit::{boolean, whole};
use crate::table::time;

/// The share of values that may not fit their column.
pub(super) const MISFITS: f64 = 0.01;
/// The share of values that words may be which stand for no value, and how many different ones.
const WORDS: (f64, usize) = (0.3, 3);
/// Seconds from 1970 to the years 1990 and 2100.
pub(super) const YEARS: (i64, i64) = (631_152_000, 4_102_444_800);
/// The share of times that may lie before 1990, as those of a clock that is not set yet.
const UNSET: f64 = 0.2;
pub(super) const UNITS: [TimeUnit; 4] =
    [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];
/// Different texts that are remembered of a field.
const TEXTS: usize = 256;
/// Numbers that stand for a missing value in some files, if they lie far from all others.
const SENTINELS: [f64; 16] = [
    -99.0, -999.0, -9999.0, -99999.0, -999999.0, 999.0, 9999.0, 99999.0, 999999.0, -99.9, -999.9,
    999.9, -9999.9, 9999.9, -32768.0, 65535.0,
];

/// What the values of a field could be, judged by those seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    pub(super) seen: u64,
    /// Of the values, so many are of each kind.
    bools: u64,
    /// Whether both truth values are there, or one that is no single letter, `yes` or `no`.
    both: u8,
    ints: u64,
    /// Numbers with a fraction or an exponent, and those that are not finite.
    floats: u64,
    not_finite: u64,
    /// Numbers with a comma before the fraction, or between groups of digits.
    commas: u64,
    groups: u64,
    /// Those with a comma before the fraction that have points between groups of digits.
    points: u64,
    /// Texts of times as RFC 3339 has them, or times.
    times: u64,
    /// All other texts.
    others: u64,
    not_utf8: bool,
    /// Values that are no texts.
    typed: u64,
    /// The least and greatest integer but for sentinels.
    whole: Option<(i64, i64)>,
    last: i64,
    /// Integers that are less than the one before.
    descents: u64,
    /// Integers that lie in the years 1990 to 2100, by unit, and numbers with a fraction as seconds.
    in_years: [u64; 4],
    seconds: u64,
    /// The most digits of a fraction.
    digits: usize,
    /// The finest unit of the times, as a place in [`UNITS`].
    finest: usize,
    /// Whether a time has more than a day.
    has_hours: bool,
    /// The least and greatest number but for sentinels, and how often there is each of these.
    range: Option<(f64, f64)>,
    sentinels: [u64; SENTINELS.len()],
    /// Texts that are neither number nor time nor truth value.
    words: HashMap<Vec<u8>, u64>,
    has_more_words: bool,
    /// The first texts, of which none is the one before.
    texts: Vec<Vec<u8>>,
}

/// A cell without the NULs before its text.
pub(super) fn without_nuls(cell: Cell<'_>) -> Cell<'_> {
    match cell {
        Cell::Text(text) => match text.iter().position(|byte| *byte != 0) {
            None => Cell::Null,
            Some(zeros) => Cell::Text(&text[zeros..]),
        },
        other => other,
    }
}

/// What was found for a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) of: ColumnType,
    /// Words and numbers that stand for no value, with their counts.
    pub(super) absent: Vec<(String, u64)>,
    /// What is odd.
    pub(super) remark: Option<String>,
    /// The byte before a fraction, or between groups, where it is a comma.
    pub(super) comma: Option<Comma>,
}

/// What a comma in numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comma {
    Decimal,
    Thousands,
}

impl Guess {
    #[inline]
    pub(super) fn take(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Null => return,
            Cell::Text(text) => self.take_text(text),
            Cell::Bool(_) => {
                (self.bools, self.typed) = (self.bools + 1, self.typed + 1);
                self.both = 3;
            }
            Cell::Int(value) => {
                self.typed += 1;
                self.take_int(value);
            }
            Cell::Unsigned(value) => match i64::try_from(value) {
                Ok(value) => {
                    self.typed += 1;
                    self.take_int(value);
                }
                Err(_) => self.others += 1,
            },
            Cell::Float(value) => {
                self.typed += 1;
                self.take_float(value);
            }
            Cell::Micros(value) | Cell::Instant(value) => self.take_time(value, 1_000_000),
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
        if is_padded(trimmed) || is_phone(trimmed) {
            self.take_word(text);
            return;
        }
        match whole(trimmed) {
            Ok(value) => return self.take_int(value),
            // What is too large is a number of something: no float keeps its digits.
            Err(Fault::OutOfRange) => return self.take_word(text),
            Err(_) => {}
        }
        if let Ok(value) = fast_float2::parse::<f64, _>(trimmed) {
            let fraction = trimmed.iter().position(|byte| *byte == b'.');
            self.digits = self.digits.max(fraction.map_or(0, |point| trimmed.len() - point - 1));
            if !value.is_finite() {
                *self.words.entry(trimmed.to_owned()).or_default() += 1;
            }
            return self.take_float(value);
        }
        if let Some(time) = time::parse(trimmed) {
            self.times += 1;
            self.finest = self.finest.max(unit_of(time.nanos));
            self.has_hours |= trimmed.len() > 10;
        } else if let Some(value) = boolean(trimmed) {
            self.bools += 1;
            self.both |= if value { 1 } else { 2 } | if trimmed.len() > 3 { 3 } else { 0 };
        } else {
            self.groups += u64::from(is_grouped(trimmed, b','));
            self.commas += u64::from(has_decimal_comma(trimmed));
            self.points += u64::from(has_decimal_comma(trimmed) && trimmed.contains(&b'.'));
            self.take_word(text);
        }
    }

    fn take_word(&mut self, text: &[u8]) {
        self.others += 1;
        self.not_utf8 |= str::from_utf8(text).is_err() || memchr::memchr(0, text).is_some();
        let word = text.trim_ascii();
        if let Some(count) = self.words.get_mut(word) {
            *count += 1;
        } else if self.words.len() < TEXTS || str::from_utf8(word).is_ok_and(is_marker) {
            self.words.insert(word.to_owned(), 1);
        } else {
            self.has_more_words = true;
        }
    }

    #[inline]
    fn take_int(&mut self, value: i64) {
        self.ints += 1;
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
        }
    }

    /// Widens the range by a number unless it is a sentinel; returns whether it did.
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
        (self.times, self.typed) = (self.times + 1, self.typed + 1);
        let nanos = i128::from(value) * i128::from(1_000_000_000 / per_second);
        self.finest = self.finest.max(unit_of(nanos));
        self.has_hours = true;
    }

    /// Different texts among the first.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.texts.iter().filter_map(|text| str::from_utf8(text).ok());
        texts.filter(|text| !text.is_empty() && !is_marker(text))
    }

    /// Whether numbers have a point before a fraction.
    pub(super) fn has_points(&self) -> bool {
        self.digits > 0
    }

    /// Whether points stand between groups of digits.
    pub(super) fn has_grouping_points(&self) -> bool {
        self.points > 0
    }

    /// Whether any value is a text.
    pub(super) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Whether it is days without hours.
    pub(super) fn is_days(&self) -> bool {
        self.times > 0 && !self.has_hours
    }

    /// The type of a field of that name, and what stands for no value.
    pub(super) fn found(&self, name: &str, delimiter: Option<&str>) -> Found {
        let text = || match self.not_utf8 {
            true => ColumnType::Bytes,
            false => ColumnType::Text,
        };
        let plain = |of| Found { of, absent: Vec::new(), remark: None, comma: None };
        if self.seen == 0 {
            return plain(ColumnType::Text);
        }
        let comma = self.comma(delimiter);
        let numbers = match comma {
            Some(Comma::Decimal) => self.ints + self.commas,
            Some(Comma::Thousands) => self.ints + self.floats + self.groups,
            None => self.ints + self.floats,
        };
        let (absent, words) = self.absent_words(comma.is_some());
        let left = self.seen - words;
        let are = |of: u64| {
            let bad = left.saturating_sub(of);
            of > 0 && bad as f64 <= MISFITS * self.seen as f64
        };
        // Not finite numbers are values that are absent.
        let (sentinels, sentinel_rows) = self.sentinels(left);
        let mut absent = absent;
        if are(self.times) {
            return Found { absent, ..plain(ColumnType::Timestamp(UNITS[self.finest])) };
        }
        // 0 and 1 are truth values beside words.
        if self.both == 3 && are(self.bools) {
            return Found { absent, ..plain(ColumnType::Bool) };
        }
        if !are(numbers - self.not_finite_or(comma)) {
            return plain(text());
        }
        if comma.is_none() && self.floats == self.not_finite {
            if let Some(unit) = self.unit_of_ints(name, self.ints) {
                let before = self.ints - self.in_years[unit];
                let remark = (before > 0).then(|| unset(before));
                let of = ColumnType::Timestamp(UNITS[unit]);
                return Found { absent, remark, ..plain(of) };
            }
            if self.floats == 0 {
                absent.extend(sentinels);
                let (least, greatest) = match sentinel_rows {
                    0 => self.int_range(),
                    _ => self.whole.unwrap_or((0, 0)),
                };
                return Found { absent, ..plain(integer(least, greatest)) };
            }
        }
        if comma.is_none() && self.is_seconds(name) {
            let unit = if self.digits > 3 || self.digits == 0 { 2 } else { 1 };
            let before = self.floats + self.ints - self.seconds - self.in_years[0];
            let remark = (before > 0).then(|| unset(before));
            return Found { absent, remark, ..plain(ColumnType::Timestamp(UNITS[unit])) };
        }
        absent.extend(sentinels);
        Found { absent, comma, ..plain(ColumnType::Float) }
    }

    /// Those among the numbers that are not finite, where these count as numbers.
    fn not_finite_or(&self, comma: Option<Comma>) -> u64 {
        if comma == Some(Comma::Decimal) { 0 } else { self.not_finite }
    }

    /// What a comma is in the numbers, if there are any.
    fn comma(&self, delimiter: Option<&str>) -> Option<Comma> {
        if self.commas + self.groups == 0 {
            return None;
        }
        // `1,234` is either: between commas it was quoted, as spreadsheets write thousands.
        let are_groups = self.groups > 0 && (self.commas == 0 || self.groups >= self.commas);
        if are_groups && (self.floats > 0 || delimiter == Some(",")) {
            return Some(Comma::Thousands);
        }
        (self.floats == 0).then_some(Comma::Decimal)
    }

    /// Words that stand for no value among times that only a format reads.
    pub(super) fn absent_among_times(&self) -> Vec<(String, u64)> {
        self.absent_words(false).0
    }

    /// Words that stand for no value, and how many values they are.
    fn absent_words(&self, has_commas: bool) -> (Vec<(String, u64)>, u64) {
        let text = |word: &Vec<u8>| String::from_utf8_lossy(word).into_owned();
        let mut words: Vec<_> =
            self.words.iter().map(|(word, count)| (text(word), *count)).collect();
        if has_commas {
            words.retain(|(word, _)| !word.bytes().any(|byte| byte.is_ascii_digit()));
        }
        words.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        let is_not_finite = |word: &str| word.parse::<f64>().is_ok_and(|value| !value.is_finite());
        let (known, others): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|(word, _)| is_marker(word) || is_not_finite(word));
        let mut absent: Vec<(String, u64)> = known;
        let mut rows: u64 = absent.iter().map(|(_, count)| count).sum();
        // Other words: few, and more than there may be misfits.
        let count: u64 = others.iter().map(|(_, count)| count).sum();
        let share = count as f64 / self.seen as f64;
        let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
        let are_words = others.iter().all(|(word, _)| !has_digit(word));
        if share > MISFITS
            && share <= WORDS.0
            && others.len() <= WORDS.1
            && are_words
            && !self.has_more_words
        {
            absent.extend(others);
            rows += count;
        }
        if self.typed > 0 && self.not_finite > 0 {
            absent.push(("NaN".to_owned(), self.not_finite));
            rows += self.not_finite;
        }
        (absent, rows)
    }

    /// Numbers that stand for no value, since they lie far from all others and come again.
    fn sentinels(&self, left: u64) -> (Vec<(String, u64)>, u64) {
        let Some((least, greatest)) = self.range else { return (Vec::new(), 0) };
        let far = (2.0 * (greatest - least)).max(50.0);
        let is_far = |value: f64| value < least - far || value > greatest + far;
        let often = |count: u64| count > 1 && count * 2 < left;
        let found = SENTINELS.iter().zip(self.sentinels);
        let found = found.filter(|(value, count)| often(*count) && is_far(**value));
        let found: Vec<_> = found.map(|(value, count)| (value.to_string(), count)).collect();
        let rows = found.iter().map(|(_, count)| count).sum();
        (found, rows)
    }

    /// The range of all integers, sentinels that are none among them.
    fn int_range(&self) -> (i64, i64) {
        let mut all = self.whole;
        for (value, _) in SENTINELS.iter().zip(self.sentinels).filter(|(_, count)| *count > 0) {
            let value = *value as i64;
            all = Some(all.map_or((value, value), |(a, b)| (a.min(value), b.max(value))));
        }
        all.unwrap_or((0, 0))
    }

    /// The unit in which the integers are times, if they are, as a place in [`UNITS`].
    fn unit_of_ints(&self, name: &str, ints: u64) -> Option<usize> {
        let ascend = self.whole.is_some_and(|(a, b)| b > a) && self.descents <= self.seen / 100;
        let (unit, count) = self.in_years.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let all = *count == ints;
        let most = *count as f64 >= (1.0 - UNSET) * ints as f64;
        let named = names::is_time(name);
        (*count > 0 && (all && (ascend || named) || most && named)).then_some(unit)
    }

    /// Whether numbers with a fraction are seconds since 1970.
    fn is_seconds(&self, name: &str) -> bool {
        let inside = self.seconds + self.in_years[0];
        let all = self.floats + self.ints;
        let most = inside as f64 >= (1.0 - UNSET) * all as f64;
        self.seconds > 0
            && (inside == all && (self.descents <= self.seen / 100 || names::is_time(name))
                || most && names::is_time(name))
    }
}

fn unset(before: u64) -> String {
    format!("{before} before 1990, as of a clock that is not set")
}

fn in_years(value: i64, unit: TimeUnit) -> bool {
    let per_second = unit.per_second();
    let to = YEARS.1.checked_mul(per_second).unwrap_or(i64::MAX);
    (YEARS.0 * per_second..=to).contains(&value)
}

/// Whether a number has zeros in front, as what is no quantity may have.
fn is_padded(number: &[u8]) -> bool {
    matches!(number, [b'0', b'0'..=b'9', ..] | [b'-' | b'+', b'0', b'0'..=b'9', ..])
        && !matches!(number, [_, _, _, _, b'-', ..])
}

/// Whether a whole number with a plus has as many digits as those of telephones.
fn is_phone(number: &[u8]) -> bool {
    matches!(number, [b'+', digits @ ..] if digits.len() > 6 && digits.iter().all(u8::is_ascii_digit))
}

/// Whether a text is digits, or groups of three with points between, a comma and digits.
pub(super) fn has_decimal_comma(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = text.split(|byte| *byte == b',');
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    matches!(
        (parts.next(), parts.next(), parts.next()),
        (Some(a), Some(b), None) if (digits(a) || is_grouped(a, b'.')) && digits(b)
    )
}

/// Whether a text is groups of three digits with a sign between, commas before a point.
fn is_grouped(text: &[u8], sign: u8) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = text.split(|byte| *byte == b'.' && sign == b',').next().unwrap_or_default();
    let mut groups = whole.split(|byte| *byte == sign);
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && digits(first));
    let mut rest = 0;
    let others = groups.all(|group| {
        rest += 1;
        group.len() == 3 && digits(group)
    });
    first && others && rest > 0
}

/// The coarsest unit that has a number of nanoseconds whole, as a place in [`UNITS`].
fn unit_of(nanos: i128) -> usize {
    let is_whole = |unit: &TimeUnit| nanos % i128::from(1_000_000_000 / unit.per_second()) == 0;
    UNITS.iter().position(is_whole).unwrap_or(UNITS.len() - 1)
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
