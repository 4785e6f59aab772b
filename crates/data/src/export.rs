//! Readings to CSV, Parquet and text in the log's own format.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use embermark_model::Reading;
use jiff::Timestamp;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::DataError;
use crate::log::SECOND;

/// Readings of one Parquet row group.
const ROW_GROUP: usize = 1 << 20;

/// Seconds of an epoch of the log, and the number after which its epochs start again.
const EPOCH_SECONDS: i64 = 31;
const EPOCHS: i64 = 1 << 16;

/// Writes `ts,sensor,temperature,humidity,light,voltage` with a header line. Times are RFC 3339
/// in UTC with six digits of the second; NULL is an empty field; numbers are the shortest that
/// read back as the same double.
///
/// # Errors
/// [`DataError::Export`] where `writer` fails, or a time lies outside the years -9999 to 9999.
pub fn to_csv<W: Write>(readings: &[Reading], writer: W) -> Result<(), DataError> {
    csv(readings, writer).map_err(|cause| DataError::Export { format: "CSV", cause })
}

fn csv<W: Write>(readings: &[Reading], writer: W) -> Result<(), Failure> {
    let mut writer =
        csv::WriterBuilder::new().has_headers(false).buffer_capacity(1 << 16).from_writer(writer);
    writer.write_field("ts")?;
    writer.write_field("sensor")?;
    writer.write_record(Reading::COLUMNS)?;
    let mut ts = String::new();
    for reading in readings {
        ts.clear();
        write!(ts, "{:.6}", Timestamp::from_microsecond(reading.ts)?)?;
        let [a, b, c, d] = std::array::from_fn(|column| reading.get(column));
        writer.serialize((ts.as_str(), reading.sensor, a, b, c, d))?;
    }
    Ok(writer.flush()?)
}

/// Writes Parquet, compressed by Snappy: `ts` TIMESTAMP(MICROS, UTC), `sensor` INT32, and
/// `temperature`, `humidity`, `light`, `voltage` as optional DOUBLE.
///
/// # Errors
/// [`DataError::Export`] where `file` fails.
pub fn to_parquet<W: Write + Send>(readings: &[Reading], file: W) -> Result<(), DataError> {
    parquet(readings, file)
        .map_err(|cause| DataError::Export { format: "Parquet", cause: cause.into() })
}

fn parquet<W: Write + Send>(readings: &[Reading], file: W) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(parquet_schema()?), Arc::new(properties))?;
    let mut columns = Columns::default();
    for rows in readings.chunks(ROW_GROUP) {
        let mut group = writer.next_row_group()?;
        columns.write(&mut group, rows)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn parquet_schema() -> Result<Type, ParquetError> {
    let micros = LogicalType::timestamp(true, TimeUnit::MICROS);
    let mut fields = vec![
        Type::primitive_type_builder("ts", PhysicalType::INT64)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(micros))
            .build()?,
        Type::primitive_type_builder("sensor", PhysicalType::INT32)
            .with_repetition(Repetition::REQUIRED)
            .build()?,
    ];
    for name in Reading::COLUMNS {
        let value = Type::primitive_type_builder(name, PhysicalType::DOUBLE);
        fields.push(value.with_repetition(Repetition::OPTIONAL).build()?);
    }
    Type::group_type_builder("readings")
        .with_fields(fields.into_iter().map(Arc::new).collect())
        .build()
}

/// The columns of one row group, kept so that the next one uses the same memory.
#[derive(Default)]
struct Columns {
    times: Vec<i64>,
    sensors: Vec<i32>,
    values: Vec<f64>,
    /// 1 where the row has a value, 0 where it is NULL.
    present: Vec<i16>,
}

impl Columns {
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        rows: &[Reading],
    ) -> Result<(), ParquetError> {
        self.times.clear();
        self.times.extend(rows.iter().map(|row| row.ts));
        self.sensors.clear();
        self.sensors.extend(rows.iter().map(|row| i32::from(row.sensor)));
        // One writer for each column of the schema, in its order.
        for column in 0..2 + Reading::COLUMNS.len() {
            let Some(mut writer) = group.next_column()? else { break };
            match column {
                0 => writer.typed::<Int64Type>().write_batch(&self.times, None, None)?,
                1 => writer.typed::<Int32Type>().write_batch(&self.sensors, None, None)?,
                _ => {
                    self.take_values(rows, column - 2);
                    writer.typed::<DoubleType>().write_batch(
                        &self.values,
                        Some(&self.present),
                        None,
                    )?
                }
            };
            writer.close()?;
        }
        Ok(())
    }

    fn take_values(&mut self, rows: &[Reading], column: usize) {
        self.values.clear();
        self.values.extend(rows.iter().filter_map(|row| row.get(column)));
        self.present.clear();
        self.present.extend(rows.iter().map(|row| i16::from(row.get(column).is_some())));
    }
}

/// Writes the lines that [`crate::lab::read`] reads, in the order given. Epochs, which readings
/// do not keep, are counted anew from the first reading's time.
///
/// # Errors
/// [`DataError::Export`] where `writer` fails, or a time lies outside the years 0 to 9999.
pub fn to_log<W: Write>(readings: &[Reading], writer: W) -> Result<(), DataError> {
    log(readings, writer).map_err(|cause| DataError::Export { format: "the sensor log", cause })
}

fn log<W: Write>(readings: &[Reading], mut writer: W) -> Result<(), Failure> {
    let start = readings.first().map_or(0, |reading| reading.ts);
    let mut line = String::new();
    for reading in readings {
        line.clear();
        let time = Timestamp::from_microsecond(reading.ts)?;
        let epoch =
            ((reading.ts - start).div_euclid(EPOCH_SECONDS * SECOND) + 1).rem_euclid(EPOCHS);
        write!(line, "{}", time.strftime("%Y-%m-%d %H:%M:%S%.f"))?;
        write!(line, " {epoch} {}", reading.sensor)?;
        for column in 0..Reading::COLUMNS.len() {
            line.push(' ');
            if let Some(value) = reading.get(column) {
                write!(line, "{value}")?;
            }
        }
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    Ok(writer.flush()?)
}

/// What may go wrong on the way to a writer.
type Failure = Box<dyn std::error::Error + Send + Sync>;
