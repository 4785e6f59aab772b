//! The runs of one or many results as CSV and Parquet. Results are read and written one by one, so
//! that only one of them is in memory.

use std::borrow::Borrow;
use std::io::Write;
use std::path::{Path, PathBuf};

use csv::Writer;
use embermark_data::ParquetWriter;
use embermark_model::foreign::cell;
use embermark_model::result::ResultFile;

use super::column::{Get, Header};
use super::columns::all_columns;
use super::lines::{Line, phase_statistics, run_lines};
use crate::ReportError;
use crate::evidence::{self, Record};

/// One of several results, with its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceResult {
    /// Name of the device.
    pub device: String,
    /// Path of the result file.
    pub path: PathBuf,
}

/// Writes the runs of all results as CSV to `out`. The rows are those of [`crate::render`], with
/// one header for all. Unmeasured values are empty. `read` reads each result twice.
///
/// # Errors
/// If a result cannot be read, or if `out` cannot be written.
pub fn csv_of<R: Borrow<ResultFile>>(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<R, ReportError>,
    durability: &Record,
    out: impl Write,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    let mut writer = Writer::from_writer(out);
    writer.write_record(header.0.iter().map(|(name, _)| cell(name)))?;
    each_line(all, read, durability, &header, |columns, line| {
        let value = |get: &Get| match get {
            Get::Text(get) => get(line).map(|text| cell(&text)),
            get => get.text(line),
        };
        let values = columns.iter().map(|get| get.and_then(value).unwrap_or_default());
        Ok(writer.write_record(values)?)
    })?;
    Ok(writer.flush().map_err(csv::Error::from)?)
}

/// Writes every run of all results as Parquet, compressed with Snappy. It has the columns of the
/// CSV as text, BOOLEAN, INT64 and DOUBLE. Unmeasured values are NULL. `durability` has the evidence
/// for the tiers.
///
/// # Errors
/// As for [`csv_of`], and if DuckDB, which makes it, is not installed.
pub fn parquet_of<R: Borrow<ResultFile>>(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<R, ReportError>,
    durability: &Record,
    out: &Path,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    let mut writer = ParquetWriter::new(header.0.clone(), out)?;
    each_line(all, read, durability, &header, |columns, line| {
        if line.run.is_some() {
            writer.add(columns.iter().map(|get| get.and_then(|get| get.text(line))))?;
        }
        Ok(())
    })?;
    Ok(writer.finish()?)
}

/// Formats the runs of a device's result as CSV.
///
/// # Errors
/// If the CSV writer fails, which it does not in memory.
pub(super) fn csv(
    device: &str,
    result: &ResultFile,
    durability: &Record,
) -> Result<String, ReportError> {
    let mut bytes = Vec::new();
    let one = DeviceResult { device: device.to_owned(), path: PathBuf::new() };
    csv_of(&[one], |_| Ok(result), durability, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Formats records as CSV.
///
/// # Errors
/// If the CSV writer fails, which it does not in memory.
pub(crate) fn csv_written(
    records: impl Iterator<Item = Vec<String>>,
) -> Result<String, ReportError> {
    let mut writer = Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record.iter().map(|text| cell(text)))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the header of all results, because observed names differ between them.
fn header<R: Borrow<ResultFile>>(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<R, ReportError>,
    durability: &Record,
) -> Result<Header, ReportError> {
    let mut header = Header::default();
    for DeviceResult { device, path } in all {
        header.add(&all_columns(device, read(path)?.borrow(), durability));
    }
    Ok(header)
}

/// Calls `add` for each line of all results, with its columns in the order of the header.
fn each_line<R: Borrow<ResultFile>>(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<R, ReportError>,
    durability: &Record,
    header: &Header,
    mut add: impl FnMut(&[Option<&Get>], &Line<'_>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    for DeviceResult { device, path } in all {
        let result = read(path)?;
        let file: &ResultFile = result.borrow();
        let (comparison, _) = evidence::compare(file, &[], durability);
        let statistics = phase_statistics(&comparison);
        let columns = all_columns(device, file, durability);
        let in_order = header.matching(&columns);
        for line in run_lines(file, &statistics) {
            add(&in_order, &line)?;
        }
    }
    Ok(())
}
