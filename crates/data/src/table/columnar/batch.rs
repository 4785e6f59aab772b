//! A batch of the values of a Parquet column.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::table::record::Field;

const DAY: i64 = 86_400;
/// The day of 1970-01-01 in the Julian count, which an INT96 has.
const JULIAN_1970: i64 = 2_440_588;

/// A batch of the values of a column.
pub(super) struct Column {
    meaning: Meaning,
    /// Whether values may be absent.
    optional: bool,
    /// By row 1 where there is a value, 0 where it is absent.
    levels: Vec<i16>,
    /// By row the place of its value among those there are.
    places: Vec<u32>,
    values: Values,
}

/// What the numbers of a column stand for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Itself,
    Unsigned,
    Date,
    /// A time in a unit of which so many are a second.
    Time(i64),
    /// It is to be divided by this.
    Decimal(f64),
}

/// The values that are not absent, as Parquet holds them.
enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl Column {
    pub(super) fn new(column: &ColumnDescriptor) -> Self {
        let values = match column.physical_type() {
            Type::BOOLEAN => Values::Bool(Vec::new()),
            Type::INT32 => Values::Int32(Vec::new()),
            Type::INT64 => Values::Int64(Vec::new()),
            Type::INT96 => Values::Int96(Vec::new()),
            Type::FLOAT => Values::Float(Vec::new()),
            Type::DOUBLE => Values::Double(Vec::new()),
            Type::BYTE_ARRAY => Values::Bytes(Vec::new()),
            Type::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Vec::new()),
        };
        Self {
            meaning: Meaning::of(column),
            optional: column.max_def_level() > 0,
            levels: Vec::new(),
            places: Vec::new(),
            values,
        }
    }

    pub(super) fn read(
        &mut self,
        reader: &mut ColumnReader,
        rows: usize,
    ) -> Result<(), ParquetError> {
        let Self { levels, values, .. } = self;
        levels.clear();
        /// Reads what a column has of a type.
        macro_rules! of_types {
            ($($reader:ident => $values:ident,)+) => {
                match (reader, values) {
                    $((ColumnReader::$reader(reader), Values::$values(values)) => {
                        read(reader, rows, levels, values)
                    })+
                    _ => Err(ParquetError::General("a column has two types".to_owned())),
                }
            };
        }
        of_types! {
            BoolColumnReader => Bool,
            Int32ColumnReader => Int32,
            Int64ColumnReader => Int64,
            Int96ColumnReader => Int96,
            FloatColumnReader => Float,
            DoubleColumnReader => Double,
            ByteArrayColumnReader => Bytes,
            FixedLenByteArrayColumnReader => Fixed,
        }?;
        self.places.clear();
        let mut next = 0;
        for level in &self.levels {
            self.places.push(next);
            next += u32::from(*level > 0);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn field(&self, row: usize) -> Field<'_> {
        let place = match self.optional {
            true if self.levels[row] == 0 => return Field::Absent,
            true => self.places[row] as usize,
            false => row,
        };
        match &self.values {
            Values::Bool(values) => Field::Bool(values[place]),
            Values::Int32(values) => self.meaning.of_int32(values[place]),
            Values::Int64(values) => self.meaning.of_int64(values[place]),
            Values::Int96(values) => of_int96(&values[place]),
            Values::Float(values) => Field::Float(values[place].into()),
            Values::Double(values) => Field::Float(values[place]),
            Values::Bytes(values) => self.meaning.of_bytes(values[place].data()),
            Values::Fixed(values) => self.meaning.of_bytes(values[place].data()),
        }
    }
}

/// Reads the next values of a column.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<(), ParquetError> {
    values.clear();
    // A call may end with a page.
    let mut left = rows;
    while left > 0 {
        let (read, ..) = reader.read_records(left, Some(levels), None, values)?;
        if read == 0 {
            return Err(ParquetError::General("a column ends before its row group".to_owned()));
        }
        left -= read;
    }
    Ok(())
}

impl Meaning {
    fn of(column: &ColumnDescriptor) -> Self {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(time)), _) => Self::Time(match time.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            }),
            (_, ConvertedType::TIMESTAMP_MILLIS) => Self::Time(1_000),
            (_, ConvertedType::TIMESTAMP_MICROS) => Self::Time(1_000_000),
            (_, ConvertedType::DATE) => Self::Date,
            (_, ConvertedType::DECIMAL) => {
                Self::Decimal((0..column.type_scale()).fold(1.0, |ten, _| 10.0 * ten))
            }
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Self::Unsigned,
            _ => Self::Itself,
        }
    }

    #[inline]
    fn of_int32(self, value: i32) -> Field<'static> {
        match self {
            Self::Unsigned => Field::Int((value as u32).into()),
            Self::Date => Field::Time { value: DAY * i64::from(value), per_second: 1 },
            other => other.of_int64(value.into()),
        }
    }

    #[inline]
    fn of_int64(self, value: i64) -> Field<'static> {
        match self {
            Self::Itself | Self::Date => Field::Int(value),
            // Above what integers hold it is a float, which is out of every integer's range.
            Self::Unsigned if value < 0 => Field::Float(value as u64 as f64),
            Self::Unsigned => Field::Int(value),
            Self::Time(per_second) => Field::Time { value, per_second },
            Self::Decimal(unit) => Field::Float(value as f64 / unit),
        }
    }

    #[inline]
    fn of_bytes(self, bytes: &[u8]) -> Field<'_> {
        match self {
            Self::Decimal(unit) => Field::Float(big_endian(bytes) / unit),
            _ => Field::Text(bytes),
        }
    }
}

/// An integer in two's complement, the highest byte first, as a double.
fn big_endian(bytes: &[u8]) -> f64 {
    let sign = if bytes.first().is_some_and(|byte| byte >> 7 == 1) { -1.0 } else { 0.0 };
    bytes.iter().fold(sign, |sum, &byte| 256.0 * sum + f64::from(byte))
}

/// A time as an INT96 has it: nanoseconds of a day, and the day.
fn of_int96(value: &Int96) -> Field<'static> {
    let &[low, high, day] = value.data() else { return Field::Absent };
    let nanos = i64::from(high) << 32 | i64::from(low);
    let seconds = DAY * (i64::from(day) - JULIAN_1970);
    match seconds.checked_mul(1_000_000_000).and_then(|midnight| midnight.checked_add(nanos)) {
        Some(value) => Field::Time { value, per_second: 1_000_000_000 },
        None => Field::Time { value: seconds + nanos / 1_000_000_000, per_second: 1 },
    }
}
