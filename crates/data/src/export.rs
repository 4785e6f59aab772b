//! Converts readings to CSV and Parquet.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use embermark_model::Reading;
use jiff::Timestamp;
use parquet::basic::Compression;
use parquet::data_type::{DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::DataError;

/// Number of readings per Parquet row group.
const ROW_GROUP: usize = 1 << 20;

/// Writes `ts,sensor,temperature,humidity,light,voltage` with a header line. Times are RFC 3339 in
/// UTC with six digits of the second. NULL is an empty field. Numbers are the shortest that read
/// back as the same double.
///
/// # Errors
/// [`DataError::Export`] if `writer` fails, or a time is outside the years -9999 to 9999.
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
/// [`DataError::Export`] if `file` fails.
pub fn to_parquet<W: Write + Send>(readings: &[Reading], file: W) -> Result<(), DataError> {
    parquet(readings, file)
        .map_err(|cause| DataError::Export { format: "Parquet", cause: cause.into() })
}

fn parquet<W: Write + Send>(readings: &[Reading], file: W) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("embermark ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let values = Reading::COLUMNS.map(|name| format!("optional double {name};")).concat();
    let schema = format!(
        "message readings {{ required int64 ts (timestamp(micros,true)); required int32 sensor; \
         {values} }}"
    );
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for rows in readings.chunks(ROW_GROUP) {
        let mut group = writer.next_row_group()?;
        write_columns(&mut group, rows)?;
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Writes the columns in the order of the schema.
fn write_columns<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Reading],
) -> Result<(), ParquetError> {
    for column in 0.. {
        let Some(mut writer) = group.next_column()? else { break };
        match column {
            0 => {
                let times: Vec<i64> = rows.iter().map(|row| row.ts).collect();
                writer.typed::<Int64Type>().write_batch(&times, None, None)?
            }
            1 => {
                let sensors: Vec<i32> = rows.iter().map(|row| i32::from(row.sensor)).collect();
                writer.typed::<Int32Type>().write_batch(&sensors, None, None)?
            }
            _ => {
                let column = rows.iter().map(|row| row.get(column - 2));
                // 1 if the row has a value, 0 if it is NULL.
                let present: Vec<i16> =
                    column.clone().map(|value| i16::from(value.is_some())).collect();
                let values: Vec<f64> = column.flatten().collect();
                writer.typed::<DoubleType>().write_batch(&values, Some(&present), None)?
            }
        };
        writer.close()?;
    }
    Ok(())
}

/// Error of a conversion or of the writer.
type Failure = Box<dyn std::error::Error + Send + Sync>;
