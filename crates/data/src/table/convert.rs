//! Converts a cell of a file to a value of a column.

mod local_times;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use embermark_libraries::duckdb::stream::{Cell, Number};
use embermark_model::table::{Column, ColumnType, RowsFile, TimeUnit, Value, int_range};
use jiff::tz::TimeZone;

use self::local_times::LocalTimes;
use super::absent::AbsentMarkers;
use super::fault::{Fault, check_value};
use super::number::{boolean, decimal_seconds, whole, whole_number};
use super::source::given;
use super::time::{self, ParsedTime};
use crate::DataError;

const NANOS: i64 = 1_000_000_000;

/// Converter of the cells of a column, with counts of unusual values.
#[derive(Debug, Default)]
pub(super) struct CellConverter {
    absent: AbsentMarkers,
    /// The markers of the table, if the column has its own instead.
    of_table: Option<AbsentMarkers>,
    /// Decimal separator, if it is not a point.
    decimal: Option<u8>,
    /// Thousands separator.
    thousands: Option<u8>,
    /// Local times of the table's zone.
    local: Option<LocalTimes>,
    /// The series of the next row, if the table's key names one. Within it times go on.
    pub(super) series: Option<u64>,
    /// Whether NULs before a text are skipped: for delimited text.
    skips_nuls: bool,
    /// Number of times with digits beyond the unit of their column, which are cut off.
    pub(super) finer: u64,
    /// Number of texts that begin with NULs, which are skipped.
    pub(super) nuls: u64,
    /// Number of leap seconds, which are read as the second before.
    pub(super) leaps: u64,
    /// Number of values that the table's markers would make absent, and the column's own do not.
    pub(super) kept: u64,
}

impl CellConverter {
    /// Makes the converter of a column.
    pub(super) fn new(
        rows: &RowsFile,
        column: &Column,
        skips_nuls: bool,
    ) -> Result<Self, DataError> {
        let own = column.from.as_ref().and_then(|from| from.absent.as_ref());
        let of = |name| given(&rows.read, name)?.as_text()?.bytes().next();
        let zone_of = |name| TimeZone::get(name).map_err(|_| DataError::NoZone(name.to_owned()));
        let zone = rows.zone.as_deref().map(zone_of);
        Ok(Self {
            absent: AbsentMarkers::new(own.unwrap_or(&rows.absent)),
            of_table: own.map(|_| AbsentMarkers::new(&rows.absent)),
            decimal: of("decimal_separator").filter(|byte| *byte != b'.'),
            thousands: of("thousands"),
            local: zone.transpose()?.map(LocalTimes::new),
            skips_nuls,
            ..Self::default()
        })
    }

    /// Returns the number of local times that occur twice or never in their zone.
    pub(super) fn ambiguous_times(&self) -> u64 {
        self.local.as_ref().map_or(0, |local| local.ambiguous)
    }

    /// Returns the time format that a table specifies for all of its columns.
    pub(super) fn format(rows: &RowsFile) -> Option<&str> {
        let format = given(&rows.read, "timestampformat");
        format.or_else(|| given(&rows.read, "dateformat"))?.as_text()
    }

    /// Whether all numbers can be stored in a column unchanged: they are in its range, finite, and
    /// none represents a missing value.
    pub(super) fn accepts_unchanged(&self, column: &Column, of: Number, numbers: &[u64]) -> bool {
        let is_empty = self.absent.is_empty() && self.of_table.is_none();
        let has_absent = column.nullable && !is_empty;
        !has_absent
            && match (column.of, of) {
                (ColumnType::Float, Number::Float) => {
                    numbers.iter().all(|bits| f64::from_bits(*bits).is_finite())
                }
                (ColumnType::Int { bits, signed }, Number::Int) => {
                    let (least, greatest) = int_range(bits, signed);
                    numbers.iter().all(|bits| (least..=greatest).contains(&(*bits as i64)))
                }
                (ColumnType::Timestamp(_), Number::Int) => true,
                _ => false,
            }
    }

    /// Whether a cell of a column represents a missing value.
    #[inline]
    fn is_absent(&mut self, column: &Column, cell: Cell<'_>) -> bool {
        if !column.nullable {
            return false;
        }
        let is_absent = self.is_marked(&self.absent, column, cell);
        if let Some(of_table) = self.of_table.as_ref().filter(|_| !is_absent) {
            self.kept += u64::from(self.is_marked(of_table, column, cell));
        }
        is_absent
    }

    #[inline]
    fn is_marked(&self, markers: &AbsentMarkers, column: &Column, cell: Cell<'_>) -> bool {
        match cell {
            Cell::Text(text) if markers.has_text(text) => true,
            Cell::Text(text) if matches!(column.of, ColumnType::Float) => {
                self.number(text).is_ok_and(|value| markers.has_number(value))
            }
            Cell::Float(value) => markers.has_number(value),
            Cell::Int(value) => markers.has_number(value as f64),
            _ => false,
        }
    }

    /// Returns the value of a cell in a column.
    #[inline]
    pub(super) fn convert<'a>(
        &mut self,
        column: &Column,
        cell: Cell<'a>,
    ) -> Result<Value<'a>, Fault> {
        let cell = if self.skips_nuls { self.without_nuls(column, cell) } else { cell };
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
            (ColumnType::Timestamp(unit), cell) => Value::Int(self.duckdb_time(cell, unit)?),
            _ => return Err(Fault::OtherType),
        };
        check_value(column, &value)?;
        Ok(value)
    }

    /// Returns a time that DuckDB has parsed by a format. `text` is its source, which is converted
    /// if DuckDB could not parse it.
    pub(super) fn convert_formatted<'a>(
        &mut self,
        column: &Column,
        (time, text): (Cell<'a>, Cell<'a>),
        unit: TimeUnit,
    ) -> Result<Value<'a>, Fault> {
        match time {
            _ if self.is_absent(column, text) => Ok(Value::Null),
            Cell::Null => self.convert(column, text),
            time => self.duckdb_time(time, unit).map(Value::Int),
        }
    }

    /// Removes the NULs that a power cut leaves before a row from a text.
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

    /// Returns a number's text in the form that Rust reads.
    #[inline]
    fn digits<'a>(&self, text: &'a [u8], fraction: bool) -> Cow<'a, [u8]> {
        let text = text.trim_ascii();
        if self.decimal.is_none() && self.thousands.is_none() {
            return Cow::Borrowed(text);
        }
        let byte = |byte: &u8| match *byte {
            byte if Some(byte) == self.thousands => None,
            byte if Some(byte) == self.decimal && fraction => Some(b'.'),
            // A point then does not begin a fraction.
            b'.' if self.decimal.is_some() => Some(b'!'),
            byte => Some(byte),
        };
        Cow::Owned(text.iter().filter_map(byte).collect())
    }

    #[inline]
    fn number(&self, text: &[u8]) -> Result<f64, Fault> {
        fast_float2::parse(&*self.digits(text, true)).map_err(|_| Fault::NotANumber)
    }

    /// Parses a time: an integer of the unit, seconds with a fraction, or a date.
    #[inline]
    fn instant(&mut self, text: &[u8], unit: TimeUnit) -> Result<i64, Fault> {
        let text = text.trim_ascii();
        match (time::parse(text), whole(text)) {
            (Some(moment), _) => {
                self.leaps += u64::from(text.get(16..19) == Some(b":60"));
                self.time_in_unit(moment, unit)
            }
            (None, Err(Fault::NotWhole)) => self.in_unit(decimal_seconds(text)?, unit),
            (None, other) => other,
        }
    }

    /// Converts a number of seconds to a time.
    fn seconds(&mut self, value: f64, unit: TimeUnit) -> Result<i64, Fault> {
        if !value.is_finite() || value.abs() > 1e14 {
            return Err(Fault::NotATime);
        }
        // A double for the present time has microseconds at best.
        self.in_unit(1_000 * (value * 1e6).round() as i128, unit)
    }

    /// Converts a time that DuckDB has read to a unit.
    fn duckdb_time(&mut self, cell: Cell<'_>, unit: TimeUnit) -> Result<i64, Fault> {
        let (nanos, has_zone) = match cell {
            Cell::Micros(value) => (1_000 * i128::from(value), false),
            Cell::Instant(value) => (1_000 * i128::from(value), true),
            Cell::Nanos(value) => (value.into(), false),
            _ => return Err(Fault::NotATime),
        };
        self.time_in_unit(ParsedTime { nanos, has_zone }, unit)
    }

    /// Converts a time to UTC and to a unit.
    #[inline]
    fn time_in_unit(&mut self, moment: ParsedTime, unit: TimeUnit) -> Result<i64, Fault> {
        let utc = match self.local.as_mut().filter(|_| !moment.has_zone) {
            Some(local) => local.in_utc(moment.nanos, self.series).ok_or(Fault::OutOfRange)?,
            None => moment.nanos,
        };
        self.in_unit(utc, unit)
    }

    /// Converts nanoseconds to a unit.
    #[inline]
    fn in_unit(&mut self, nanos: i128, unit: TimeUnit) -> Result<i64, Fault> {
        let nanos_of_unit = i128::from(NANOS / unit.per_second());
        self.finer += u64::from(nanos % nanos_of_unit != 0);
        i64::try_from(nanos.div_euclid(nanos_of_unit)).map_err(|_| Fault::OutOfRange)
    }
}
