//! A cell of a file to a value of a column.

use std::borrow::Cow;

use embermark_libraries::duckdb::stream::Cell;
use embermark_model::table::{Column, ColumnType, Literal, RowsFile, TimeUnit, Value};
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::absent::Absent;
use super::fault::{Fault, check};
use super::time::{self, Moment};
use crate::DataError;

const NANOS: i64 = 1_000_000_000;

/// How values are written in a file, and what was odd about them.
#[derive(Debug, Default)]
pub(super) struct Reading {
    absent: Absent,
    /// The byte before a fraction, where it is no point.
    decimal: Option<u8>,
    /// The byte between groups of digits.
    thousands: Option<u8>,
    zone: Option<TimeZone>,
    /// The last time of a zone, by which a repeated hour is told from the first.
    last: Option<Timestamp>,
    /// Whether NULs before a text are passed over: of delimited text.
    passes_nuls: bool,
    /// Times that are finer than the unit of their column, of which the rest is cut off.
    pub(super) finer: u64,
    /// Texts that begin with NULs, which are passed over.
    pub(super) nuls: u64,
    /// Times that the clocks of their zone show twice or never.
    pub(super) doubtful: u64,
    /// Leap seconds, which are taken for the second before.
    pub(super) leaps: u64,
}

impl Reading {
    /// As a table says.
    pub(super) fn new(rows: &RowsFile, passes_nuls: bool) -> Result<Self, DataError> {
        let of = |name: &str| {
            let value = rows.read.iter().find(|(key, _)| key == name);
            value.and_then(|(_, value)| value.as_text()).and_then(|text| text.bytes().next())
        };
        let zone = rows
            .zone
            .as_ref()
            .map(|name| TimeZone::get(name).map_err(|_| DataError::NoZone { name: name.clone() }));
        Ok(Self {
            absent: Absent::new(&rows.absent),
            decimal: of("decimal_separator").filter(|byte| *byte != b'.'),
            thousands: of("thousands"),
            zone: zone.transpose()?,
            passes_nuls,
            ..Self::default()
        })
    }

    /// The format of times that a table gives for all of its columns.
    pub(super) fn format(rows: &RowsFile) -> Option<&str> {
        let of = |name| rows.read.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        of("timestampformat").or_else(|| of("dateformat")).and_then(Literal::as_text)
    }

    /// Whether a cell of a column stands for no value.
    #[inline]
    fn is_absent(&self, column: &Column, cell: Cell<'_>) -> bool {
        column.nullable
            && match cell {
                Cell::Text(text) if self.absent.has_text(text) => true,
                Cell::Text(text) if matches!(column.of, ColumnType::Float) => {
                    self.number(text).is_ok_and(|value| self.absent.has_number(value))
                }
                Cell::Float(value) => self.absent.has_number(value),
                Cell::Int(value) => self.absent.has_number(value as f64),
                _ => false,
            }
    }

    /// The value of a cell in a column.
    #[inline]
    pub(super) fn fit<'a>(&mut self, column: &Column, cell: Cell<'a>) -> Result<Value<'a>, Fault> {
        let cell = if self.passes_nuls { self.without_nuls(column, cell) } else { cell };
        if self.is_absent(column, cell) {
            return Ok(Value::Null);
        }
        let value = match (column.of, cell) {
            (_, Cell::Null) => Value::Null,
            (ColumnType::Text, Cell::Text(text)) => {
                Value::Text(str::from_utf8(text).map_err(|_| Fault::NotUtf8)?)
            }
            (ColumnType::Bytes, Cell::Text(text)) => Value::Bytes(text),
            (ColumnType::Float, Cell::Text(text)) => Value::Float(self.number(text)?),
            (ColumnType::Float, Cell::Float(value)) => Value::Float(value),
            (ColumnType::Float, Cell::Int(value)) => Value::Float(value as f64),
            (ColumnType::Float, Cell::Unsigned(value)) => Value::Float(value as f64),
            (ColumnType::Int { .. }, Cell::Text(text)) => {
                Value::Int(whole(&self.digits(text, false))?)
            }
            (ColumnType::Int { .. }, Cell::Float(value)) => Value::Int(whole_number(value)?),
            (ColumnType::Int { .. } | ColumnType::Timestamp(_), Cell::Int(value)) => {
                Value::Int(value)
            }
            (ColumnType::Int { .. } | ColumnType::Timestamp(_), Cell::Unsigned(value)) => {
                Value::Int(i64::try_from(value).map_err(|_| Fault::OutOfRange)?)
            }
            (ColumnType::Bool, Cell::Text(text)) => {
                Value::Int(boolean(text).ok_or(Fault::NotABool)?.into())
            }
            (ColumnType::Bool | ColumnType::Int { .. }, Cell::Bool(value)) => {
                Value::Int(value.into())
            }
            (ColumnType::Bool, Cell::Int(value)) => Value::Int(value),
            (ColumnType::Timestamp(unit), Cell::Text(text)) => {
                Value::Int(self.instant(text, unit)?)
            }
            (ColumnType::Timestamp(unit), Cell::Float(value)) => {
                Value::Int(self.seconds(value, unit)?)
            }
            (ColumnType::Timestamp(unit), cell) => Value::Int(self.moment(cell, unit)?),
            _ => return Err(Fault::OtherType),
        };
        check(column, &value)?;
        Ok(value)
    }

    /// A time that DuckDB has read by a format, and the text that it was read from.
    pub(super) fn formatted<'a>(
        &mut self,
        column: &Column,
        (time, text): (Cell<'a>, Cell<'a>),
        unit: TimeUnit,
    ) -> Result<Value<'a>, Fault> {
        match time {
            _ if self.is_absent(column, text) => Ok(Value::Null),
            Cell::Null => self.fit(column, text),
            time => self.moment(time, unit).map(Value::Int),
        }
    }

    /// A text without the NULs that a power cut leaves before a row.
    #[inline]
    fn without_nuls<'a>(&mut self, column: &Column, cell: Cell<'a>) -> Cell<'a> {
        match cell {
            Cell::Text(text @ [0, ..]) if column.of != ColumnType::Bytes => {
                self.nuls += 1;
                let zeros = text.iter().take_while(|byte| **byte == 0).count();
                if zeros == text.len() { Cell::Null } else { Cell::Text(&text[zeros..]) }
            }
            other => other,
        }
    }

    /// A number's text as Rust reads it.
    #[inline]
    fn digits<'a>(&self, text: &'a [u8], fraction: bool) -> Cow<'a, [u8]> {
        let text = text.trim_ascii();
        if self.decimal.is_none() && self.thousands.is_none() {
            return Cow::Borrowed(text);
        }
        let byte = |byte: &u8| match *byte {
            byte if Some(byte) == self.thousands => None,
            byte if Some(byte) == self.decimal && fraction => Some(b'.'),
            // A point is no sign of a fraction then.
            b'.' if self.decimal.is_some() => Some(b'!'),
            byte => Some(byte),
        };
        Cow::Owned(text.iter().filter_map(byte).collect())
    }

    #[inline]
    fn number(&self, text: &[u8]) -> Result<f64, Fault> {
        fast_float2::parse(&*self.digits(text, true)).map_err(|_| Fault::NotANumber)
    }

    /// The time that a text is: an integer of the unit, seconds with a fraction, or a date.
    #[inline]
    fn instant(&mut self, text: &[u8], unit: TimeUnit) -> Result<i64, Fault> {
        let text = text.trim_ascii();
        match (time::parse(text), whole(text)) {
            (Some(moment), _) => {
                self.leaps += u64::from(text.get(16..19) == Some(b":60"));
                self.timed(moment, unit)
            }
            (None, Err(Fault::NotWhole)) => self.in_unit(decimal_seconds(text)?, unit),
            (None, other) => other,
        }
    }

    /// The time that a number of seconds is.
    fn seconds(&mut self, value: f64, unit: TimeUnit) -> Result<i64, Fault> {
        if !value.is_finite() || value.abs() > 1e14 {
            return Err(Fault::NotATime);
        }
        // A double of this time has microseconds at best.
        self.in_unit(1_000 * (value * 1e6).round() as i128, unit)
    }

    /// The time that DuckDB has read.
    fn moment(&mut self, cell: Cell<'_>, unit: TimeUnit) -> Result<i64, Fault> {
        let (nanos, has_zone) = match cell {
            Cell::Micros(value) => (1_000 * i128::from(value), false),
            Cell::Instant(value) => (1_000 * i128::from(value), true),
            Cell::Nanos(value) => (value.into(), false),
            _ => return Err(Fault::NotATime),
        };
        self.timed(Moment { nanos, has_zone }, unit)
    }

    /// A moment in UTC and in a unit.
    #[inline]
    fn timed(&mut self, moment: Moment, unit: TimeUnit) -> Result<i64, Fault> {
        match moment.has_zone || self.zone.is_none() {
            true => self.in_unit(moment.nanos, unit),
            false => {
                let utc = self.in_utc(moment.nanos).ok_or(Fault::OutOfRange)?;
                self.in_unit(utc, unit)
            }
        }
    }

    /// The time in UTC at which a clock of the zone shows another. Of an hour that it shows twice the
    /// second is taken where the first would lie well before the time before.
    fn in_utc(&mut self, clock: i128) -> Option<i128> {
        const BACK: i64 = 1_800;
        let zone = self.zone.as_ref()?;
        let clock = Offset::UTC.to_datetime(Timestamp::from_nanosecond(clock).ok()?);
        let ambiguous = zone.to_ambiguous_timestamp(clock);
        self.doubtful += u64::from(ambiguous.is_ambiguous());
        let first = ambiguous.compatible().ok()?;
        let is_back = |last: Timestamp| first.as_second() < last.as_second() - BACK;
        let found = match ambiguous.offset() {
            AmbiguousOffset::Fold { .. } if self.last.is_some_and(is_back) => {
                ambiguous.later().ok()?
            }
            _ => first,
        };
        self.last = Some(found);
        Some(found.as_nanosecond())
    }

    /// Nanoseconds in a unit.
    #[inline]
    fn in_unit(&mut self, nanos: i128, unit: TimeUnit) -> Result<i64, Fault> {
        let nanos_of_unit = i128::from(NANOS / unit.per_second());
        self.finer += u64::from(nanos % nanos_of_unit != 0);
        i64::try_from(nanos.div_euclid(nanos_of_unit)).map_err(|_| Fault::OutOfRange)
    }
}

/// Nanoseconds since 1970 of seconds that have a fraction; digits beyond the ninth are cut off.
fn decimal_seconds(text: &[u8]) -> Result<i128, Fault> {
    let parts = str::from_utf8(text).ok().and_then(|text| text.split_once('.'));
    let (seconds, fraction) = parts.ok_or(Fault::NotATime)?;
    let is_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let digits = if is_digits { &fraction[..fraction.len().min(9)] } else { "none" };
    format!("{seconds}{digits:0<9}").parse().map_err(|_| Fault::NotATime)
}

/// The whole number that a text is, with a sign and blanks around it or without.
#[inline]
pub(super) fn whole(text: &[u8]) -> Result<i64, Fault> {
    let (negative, digits) = match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || digits.iter().any(|byte| !byte.is_ascii_digit()) {
        return Err(Fault::NotWhole);
    }
    let mut sum = 0_i64;
    for digit in digits {
        // Counted downwards: the least integer has no positive counterpart.
        let ten = sum.checked_mul(10).ok_or(Fault::OutOfRange)?;
        sum = ten.checked_sub(i64::from(digit - b'0')).ok_or(Fault::OutOfRange)?;
    }
    if negative { Ok(sum) } else { sum.checked_neg().ok_or(Fault::OutOfRange) }
}

/// The whole number that a double is.
fn whole_number(value: f64) -> Result<i64, Fault> {
    // Up to which doubles have every whole number.
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        _ if value.fract() != 0.0 => Err(Fault::NotWhole),
        _ if value.abs() > EXACT => Err(Fault::OutOfRange),
        _ => Ok(value as i64),
    }
}

/// The truth value that a text is: as DuckDB takes them, and switches.
pub(super) fn boolean(text: &[u8]) -> Option<bool> {
    let is = |words: &[&str]| {
        words.iter().any(|word| text.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    match () {
        () if is(&["true", "t", "yes", "y", "on", "1"]) => Some(true),
        () if is(&["false", "f", "no", "n", "off", "0"]) => Some(false),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(of: ColumnType) -> Column {
        Column::new("c", of)
    }

    fn read(of: ColumnType, text: &str) -> Result<Value<'_>, Fault> {
        Reading::default().fit(&column(of), Cell::Text(text.as_bytes()))
    }

    const U16: ColumnType = ColumnType::Int { bits: 16, signed: false };
    const I64: ColumnType = ColumnType::Int { bits: 64, signed: true };
    const U64: ColumnType = ColumnType::Int { bits: 64, signed: false };

    #[test]
    fn whole_numbers_are_read_up_to_the_bounds_of_their_type() {
        for (of, text, expected) in [
            (U16, "0", Ok(0)),
            (U16, "65535", Ok(65_535)),
            (U16, " +7 ", Ok(7)),
            (U16, "65536", Err(Fault::OutOfRange)),
            (U16, "-1", Err(Fault::OutOfRange)),
            (U16, "1.0", Err(Fault::NotWhole)),
            (U16, "-", Err(Fault::NotWhole)),
            (U16, "1e3", Err(Fault::NotWhole)),
            (I64, "-9223372036854775808", Ok(i64::MIN)),
            (I64, "9223372036854775808", Err(Fault::OutOfRange)),
            (U64, "9223372036854775807", Ok(i64::MAX)),
            (U64, "18446744073709551615", Err(Fault::OutOfRange)),
            (ColumnType::Int { bits: 8, signed: true }, "-128", Ok(-128)),
            (ColumnType::Int { bits: 8, signed: true }, "-129", Err(Fault::OutOfRange)),
            (ColumnType::Bool, "True", Ok(1)),
            (ColumnType::Bool, "0", Ok(0)),
            (ColumnType::Bool, "yes", Ok(1)),
            (ColumnType::Bool, "maybe", Err(Fault::NotABool)),
        ] {
            assert_eq!(read(of, text), expected.map(Value::Int), "{of} {text}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!(read(ColumnType::Float, "-1.5e3"), Ok(Value::Float(-1500.0)));
        assert_eq!(read(ColumnType::Float, " 7"), Ok(Value::Float(7.0)));
        for text in ["NaN", "inf", "-Infinity", "1e400"] {
            assert_eq!(read(ColumnType::Float, text), Err(Fault::NotFinite), "{text}");
        }
        assert_eq!(read(ColumnType::Float, "1,5"), Err(Fault::NotANumber));
    }

    #[test]
    fn times_are_integers_of_the_unit_or_dates() {
        let of = |unit| ColumnType::Timestamp(unit);
        let text = "2004-02-28 00:59:16.02785";
        assert_eq!(read(of(TimeUnit::Seconds), text), Ok(Value::Int(1_077_929_956)));
        assert_eq!(read(of(TimeUnit::Microseconds), text), Ok(Value::Int(1_077_929_956_027_850)));
        assert_eq!(read(of(TimeUnit::Milliseconds), "-5"), Ok(Value::Int(-5)));
        assert_eq!(read(of(TimeUnit::Nanoseconds), "2400-01-01"), Err(Fault::OutOfRange));
        assert_eq!(read(of(TimeUnit::Seconds), "2004-02-30"), Err(Fault::NotATime));
        assert_eq!(read(of(TimeUnit::Seconds), "noon"), Err(Fault::NotATime));
        let mut reading = Reading::default();
        for text in [text, "2004-02-28", "2004-02-28T00:00:00.500"] {
            reading.fit(&column(of(TimeUnit::Seconds)), Cell::Text(text.as_bytes())).unwrap();
        }
        assert_eq!(reading.finer, 2);
        // Before 1970, too, what is cut off lies after the value.
        let before = reading.fit(&column(of(TimeUnit::Seconds)), Cell::Micros(-1_500_000));
        assert_eq!((before, reading.finer), (Ok(Value::Int(-2)), 3));
    }

    #[test]
    fn texts_are_utf_8_without_nul_and_bytes_are_anything() {
        let odd = b"a\xff\0";
        let of =
            |of, text| Reading::default().fit(&column(of), Cell::Text(text)).map(Value::to_owned);
        assert_eq!(of(ColumnType::Text, odd), Err(Fault::NotUtf8));
        assert_eq!(of(ColumnType::Text, b"a\0"), Err(Fault::Nul));
        assert_eq!(of(ColumnType::Bytes, odd), Ok(Value::Bytes(odd).to_owned()));
        assert_eq!(of(ColumnType::Text, b" x "), Ok(Value::Text(" x ").to_owned()));
    }

    #[test]
    fn what_parquet_has_as_numbers_goes_where_nothing_is_lost() {
        let of = |of, cell| Reading::default().fit(&column(of), cell);
        assert_eq!(of(U16, Cell::Float(3.0)), Ok(Value::Int(3)));
        assert_eq!(of(U16, Cell::Float(3.5)), Err(Fault::NotWhole));
        assert_eq!(of(I64, Cell::Float(1e300)), Err(Fault::OutOfRange));
        assert_eq!(of(I64, Cell::Float(f64::NAN)), Err(Fault::NotWhole));
        assert_eq!(of(ColumnType::Float, Cell::Int(3)), Ok(Value::Float(3.0)));
        assert_eq!(of(ColumnType::Text, Cell::Int(3)), Err(Fault::OtherType));
        assert_eq!(of(U16, Cell::Null), Err(Fault::Absent));
    }

    #[test]
    fn numbers_of_seconds_with_a_fraction_are_times_to_their_last_digit() {
        let micros = ColumnType::Timestamp(TimeUnit::Microseconds);
        assert_eq!(read(micros, "1717200001.0015838"), Ok(Value::Int(1_717_200_001_001_583)));
        assert_eq!(read(micros, "-0.5"), Ok(Value::Int(-500_000)));
        assert_eq!(read(micros, "1.5e3"), Err(Fault::NotATime));
        let of = |value| Reading::default().fit(&column(micros), Cell::Float(value));
        assert_eq!(of(1_717_200_000.25), Ok(Value::Int(1_717_200_000_250_000)));
    }

    fn reading(rows: &RowsFile) -> Reading {
        Reading::new(rows, true).unwrap()
    }

    #[test]
    fn words_and_numbers_for_absent_values_count_where_a_value_may_be_absent() {
        let words = ["NA".to_owned(), "-9999".to_owned(), "NaN".to_owned()];
        let mut reading = reading(&RowsFile { absent: words.to_vec(), ..RowsFile::default() });
        let mut column = column(ColumnType::Float);
        assert_eq!(reading.fit(&column, Cell::Text(b"NA")), Err(Fault::NotANumber));
        assert_eq!(reading.fit(&column, Cell::Text(b"-9999")), Ok(Value::Float(-9999.0)));
        column.nullable = true;
        for cell in
            [Cell::Text(b" NA "), Cell::Text(b"-9999.0"), Cell::Float(f64::NAN), Cell::Int(-9999)]
        {
            assert_eq!(reading.fit(&column, cell), Ok(Value::Null), "{cell:?}");
        }
        assert_eq!(reading.fit(&column, Cell::Text(b"5")), Ok(Value::Float(5.0)));
    }

    #[test]
    fn numbers_may_have_a_comma_before_their_fraction() {
        let option = |name: &str, text: &str| (name.to_owned(), Literal::Text(text.to_owned()));
        let read = vec![option("decimal_separator", ","), option("thousands", ".")];
        let mut reading = reading(&RowsFile { read, ..RowsFile::default() });
        let column = column(ColumnType::Float);
        assert_eq!(reading.fit(&column, Cell::Text(b"1.020,13")), Ok(Value::Float(1020.13)));
    }

    #[test]
    fn local_times_are_taken_to_utc_and_an_hour_that_comes_again_goes_on() {
        let rows = RowsFile { zone: Some("Europe/Berlin".to_owned()), ..RowsFile::default() };
        let mut reading = reading(&rows);
        let column = column(ColumnType::Timestamp(TimeUnit::Seconds));
        let midnight = 1_729_987_200;
        for (text, hours) in [
            ("2024-10-27 01:30:00", -0.5),
            ("2024-10-27 02:30:00", 0.5),
            ("2024-10-27 02:50:00", 0.8333),
            ("2024-10-27 02:05:00", 1.0833),
            ("2024-10-27 03:00:00", 2.0),
            ("2024-10-27 03:00:00Z", 3.0),
        ] {
            let expected = midnight + (hours * 3_600.0_f64 / 60.0).round() as i64 * 60;
            let cell = Cell::Text(text.as_bytes());
            assert_eq!(reading.fit(&column, cell), Ok(Value::Int(expected)), "{text}");
        }
        assert_eq!(reading.doubtful, 3);
        let wrong = RowsFile { zone: Some("Mars/Olympus".to_owned()), ..RowsFile::default() };
        assert!(Reading::new(&wrong, true).unwrap_err().to_string().contains("Mars/Olympus"));
    }
}
