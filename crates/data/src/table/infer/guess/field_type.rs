//! Infers the type of a field, and the words and numbers that represent missing values in it.

use embermark_model::table::ColumnType;

use super::super::{format_count, names};
use super::words::is_known;
use super::{Guess, MISFITS, SENTINELS, UNITS};

/// Largest share of times before 1990, which a clock that is not set writes.
const UNSET_CLOCK_SHARE: f64 = 0.2;

/// Inferred type of a field.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::table::infer) struct FieldType {
    pub(in crate::table::infer) of: ColumnType,
    /// Words and numbers that represent a missing value, with their counts.
    pub(in crate::table::infer) absent: Vec<(String, u64)>,
    /// Remark on unusual values.
    pub(in crate::table::infer) remark: Option<String>,
    /// Meaning of commas in the numbers, if there are any.
    pub(in crate::table::infer) comma: Option<Comma>,
}

/// Which separators the numbers of a file have, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table::infer) enum Separators {
    Unknown,
    DecimalPoints,
    DecimalCommas,
}

/// Meaning of a comma in numbers. If it begins a fraction, points separate groups of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table::infer) enum Comma {
    Decimal,
    Thousands,
}

impl Guess {
    /// Returns the type of a field with this name, and what represents missing values.
    pub(in crate::table::infer) fn field_type(
        &self,
        name: &str,
        separators: Separators,
    ) -> FieldType {
        let text = if self.not_texts == 0 { ColumnType::Text } else { ColumnType::Bytes };
        let plain = |of| FieldType { of, absent: Vec::new(), remark: None, comma: None };
        if self.seen == 0 {
            return plain(ColumnType::Text);
        }
        let comma = self.comma_meaning(separators);
        let numbers = match comma {
            Some(Comma::Decimal) if separators == Separators::DecimalCommas => {
                self.ints + self.commas + self.point_groups
            }
            Some(Comma::Decimal) => self.ints + self.commas,
            Some(Comma::Thousands) => self.ints + self.floats + self.groups,
            None => self.ints + self.floats,
        };
        let (mut absent, words) = self.absent_words(comma.is_some());
        let left = self.seen - words;
        let are = |of: u64| {
            let bad = left.saturating_sub(of);
            of > 0 && bad as f64 <= MISFITS * self.seen as f64
        };
        // Numbers that are not finite are absent values.
        let (sentinels, sentinel_rows) = self.sentinels(left);
        if are(self.times) {
            let remark = (self.endless > 0).then(|| self.endless_remark());
            let of = ColumnType::Timestamp(UNITS[self.finest]);
            return FieldType { absent, remark, ..plain(of) };
        }
        if let Some(unit) = self.unit_of_mixed(name).filter(|_| are(self.times + self.ints)) {
            return FieldType { absent, ..plain(ColumnType::Timestamp(UNITS[unit])) };
        }
        // 0 and 1 are truth values next to words.
        if self.both == 3 && are(self.bools) {
            return FieldType { absent, ..plain(ColumnType::Bool) };
        }
        if left == 0 && self.not_finite > 0 && absent.iter().all(|(word, _)| is_known(word)) {
            let remark = "no values, only words that mean a missing number: taken for a number";
            let remark = Some(remark.to_owned());
            return FieldType { absent, remark, ..plain(ColumnType::Float) };
        }
        // With decimal commas they are not counted as numbers.
        let not_finite = if comma == Some(Comma::Decimal) { 0 } else { self.not_finite };
        let are_numbers = are(numbers - not_finite);
        if self.padded > 0 {
            let remark = are_numbers.then(|| self.padded_remark());
            return FieldType { remark, ..plain(text) };
        }
        if !are_numbers {
            let remark = are(self.bools).then(|| {
                "only one truth value, which may be a code: a text, unless you write \"bool\""
                    .to_owned()
            });
            return FieldType { remark, ..plain(text) };
        }
        if comma.is_none() && self.floats == self.not_finite {
            if let Some(unit) = self.unit_of_ints(name, self.ints) {
                let before = self.ints - self.in_years[unit];
                let remark = (before > 0).then(|| unset_clock_remark(before));
                let of = ColumnType::Timestamp(UNITS[unit]);
                return FieldType { absent, remark, ..plain(of) };
            }
            if self.floats == 0 {
                absent.extend(sentinels);
                let (least, greatest) = match sentinel_rows {
                    0 => self.int_range(),
                    _ => self.whole.unwrap_or((0, 0)),
                };
                return FieldType { absent, ..plain(int_type(least, greatest)) };
            }
        }
        if comma.is_none() && self.is_seconds(name) {
            let unit = if self.digits > 3 || self.digits == 0 { 2 } else { 1 };
            let before = self.floats + self.ints - self.seconds - self.in_years[0];
            let remark = (before > 0).then(|| unset_clock_remark(before));
            return FieldType { absent, remark, ..plain(ColumnType::Timestamp(UNITS[unit])) };
        }
        if self.inexact > 0 && self.typed == 0 {
            return FieldType { remark: Some(self.inexact_remark()), ..plain(text) };
        }
        let regrouped = comma == Some(Comma::Decimal) && self.grouped_floats > 0;
        // The range is of numbers that were read with a decimal point.
        absent.extend(
            sentinels.into_iter().filter(|(number, _)| !regrouped || number.starts_with('-')),
        );
        let remark = (self.inexact > 0)
            .then(|| format!("{}, which a double changes", beyond_doubles(self.inexact)));
        FieldType { absent, comma, remark, ..plain(ColumnType::Float) }
    }

    fn endless_remark(&self) -> String {
        format!("{} after 2100, as for what has no end", format_count(self.endless, "time"))
    }

    fn padded_remark(&self) -> String {
        format!(
            "a text, because {} leading zeros, such as {}",
            match self.padded {
                1 => "1 value has".to_owned(),
                padded => format!("{padded} values have"),
            },
            String::from_utf8_lossy(&self.first_padded)
        )
    }

    fn inexact_remark(&self) -> String {
        format!(
            "a text, because it has fractions, and {}, which a double would change",
            beyond_doubles(self.inexact)
        )
    }

    /// Returns the meaning of a comma in the numbers, if there are any.
    fn comma_meaning(&self, separators: Separators) -> Option<Comma> {
        if separators == Separators::DecimalCommas && self.may_group_by_points() {
            return Some(Comma::Decimal);
        }
        let has_floats = self.floats > self.not_finite;
        if self.commas + self.groups == 0 {
            return None;
        }
        // `1,234` may be either. Between commas it was quoted, as spreadsheets write thousands.
        let are_groups = self.groups > 0 && (self.commas == 0 || self.groups >= self.commas);
        if are_groups && (has_floats || separators == Separators::DecimalPoints) {
            return Some(Comma::Thousands);
        }
        (!has_floats).then_some(Comma::Decimal)
    }

    /// Returns words for missing values, and the number of these values.
    pub(in crate::table::infer) fn absent_words(
        &self,
        has_commas: bool,
    ) -> (Vec<(String, u64)>, u64) {
        let mut absent = self.words.absent(self.seen, has_commas);
        if self.typed > 0 {
            let unreal = ["NaN", "inf", "-inf"].into_iter().zip(self.unreal);
            let unreal = unreal.filter(|(_, count)| *count > 0);
            absent.extend(unreal.map(|(name, count)| (name.to_owned(), count)));
        }
        let rows = absent.iter().map(|(_, count)| count).sum();
        (absent, rows)
    }

    /// Returns numbers that represent missing values, and the number of rows that have them. They
    /// are far from all others and occur repeatedly.
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

    /// Returns the range of all integers, including sentinels that turned out to be values.
    fn int_range(&self) -> (i64, i64) {
        let mut all = self.whole;
        for (value, _) in SENTINELS.iter().zip(self.sentinels).filter(|(_, count)| *count > 0) {
            let value = *value as i64;
            all = Some(all.map_or((value, value), |(a, b)| (a.min(value), b.max(value))));
        }
        all.unwrap_or((0, 0))
    }

    /// Returns the unit in which the integers are times, as an index of [`UNITS`]. `None` if they
    /// are not.
    fn unit_of_ints(&self, name: &str, ints: u64) -> Option<usize> {
        let ascend = self.whole.is_some_and(|(a, b)| b > a) && self.descents <= self.seen / 100;
        let (unit, count) = self.in_years.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let all = *count == ints;
        let most = *count as f64 >= (1.0 - UNSET_CLOCK_SHARE) * ints as f64;
        let named = names::is_time(name);
        (*count > 0 && (all && (ascend || named) || most && named)).then_some(unit)
    }

    /// Returns the unit of times of which some are texts and the others integers, as an index of
    /// [`UNITS`]. All are read unchanged in it.
    fn unit_of_mixed(&self, name: &str) -> Option<usize> {
        let is_mixed = self.times > 0 && self.ints > 0 && names::is_time(name);
        (self.finest..UNITS.len()).find(|unit| is_mixed && self.in_years[*unit] == self.ints)
    }

    /// Whether numbers with a fraction are seconds since 1970.
    fn is_seconds(&self, name: &str) -> bool {
        let inside = self.seconds + self.in_years[0];
        let all = self.floats + self.ints;
        let most = inside as f64 >= (1.0 - UNSET_CLOCK_SHARE) * all as f64;
        self.seconds > 0
            && (inside == all && (self.descents <= self.seen / 100 || names::is_time(name))
                || most && names::is_time(name))
    }
}

fn beyond_doubles(count: u64) -> String {
    format!("{} beyond 2^53", format_count(count, "number"))
}

fn unset_clock_remark(before: u64) -> String {
    format!("{before} before 1990, as from a clock that is not set")
}

/// Returns the narrowest integer type with room for twice these values.
fn int_type(least: i64, greatest: i64) -> ColumnType {
    let signed = least < 0;
    let room = |bits: u8| {
        let most = 1_i64 << (bits - 1 - u8::from(signed));
        greatest < most && least >= -most
    };
    let bits = [16, 32].into_iter().find(|&bits| room(bits)).unwrap_or(64);
    ColumnType::Int { bits, signed }
}
