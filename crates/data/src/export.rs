//! Converts readings to CSV and Parquet.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use embermark_model::Reading;
use jiff::Timestamp;

use crate::DataError;
use crate::parquet::ParquetWriter;

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
/// `temperature`, `humidity`, `light`, `voltage` as DOUBLE. DuckDB makes it.
///
/// # Errors
/// [`DataError::Export`] if DuckDB fails, `out` cannot be written, or a time is outside the years
/// -9999 to 9999.
pub fn to_parquet(readings: &[Reading], out: &Path) -> Result<(), DataError> {
    let of_values = Reading::COLUMNS.map(|name| (name.to_owned(), "DOUBLE"));
    let mut columns = vec![("ts".to_owned(), "TIMESTAMPTZ"), ("sensor".to_owned(), "INTEGER")];
    columns.extend(of_values);
    let mut rows = ParquetWriter::new(columns, out)?;
    for reading in readings {
        let time = Timestamp::from_microsecond(reading.ts);
        let time =
            time.map_err(|cause| DataError::Export { format: "Parquet", cause: cause.into() })?;
        let values = (0..Reading::COLUMNS.len()).map(|column| reading.get(column));
        let values = values.map(|value| value.map(|value| value.to_string()));
        let key = [Some(format!("{time:.6}")), Some(reading.sensor.to_string())];
        rows.add(key.into_iter().chain(values))?;
    }
    rows.finish()
}

/// Error of a conversion or of the writer.
type Failure = Box<dyn std::error::Error + Send + Sync>;
