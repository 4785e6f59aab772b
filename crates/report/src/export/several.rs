//! Writes the runs of one or many results as one table, result by result, so that only one of them
//! is in memory.

use std::io::Write;
use std::path::{Path, PathBuf};

use embermark_model::result::ResultFile;

use super::column::Header;
use super::columns;
use super::csv::Csv;
use super::lines::Line;
use super::parquet::Parquet;
use super::rows::{Rows, add};
use crate::ReportError;
use crate::evidence::Record;

/// One of several results, with its device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceResult {
    /// Name of the device.
    pub device: String,
    /// Path of the result file.
    pub path: PathBuf,
}

/// Writes the runs of all results as CSV to `out`. The rows are those of [`crate::render`], with
/// one header for all. `read` reads each result twice.
///
/// # Errors
/// If a result cannot be read, or if `out` cannot be written.
pub fn csv_of<W: Write>(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    out: W,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    write(Csv::new(&header, out)?, &header, all, read, durability, |_| true)
}

/// Writes the runs of all results as Parquet, with the rows of [`crate::parquet()`].
///
/// # Errors
/// As for [`csv_of`].
pub fn parquet_of(
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    out: &Path,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    write(Parquet::new(&header, out)?, &header, all, read, durability, |line| line.run.is_some())
}

/// Returns the header of all results, because observed names differ between them.
fn header(
    all: &[DeviceResult],
    read: &impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
) -> Result<Header, ReportError> {
    let mut header = Header::default();
    for DeviceResult { device, path } in all {
        header.add(&columns::all_columns(device, &read(path)?, durability));
    }
    Ok(header)
}

fn write(
    mut rows: impl Rows,
    header: &Header,
    all: &[DeviceResult],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    wanted: fn(&Line<'_>) -> bool,
) -> Result<(), ReportError> {
    for DeviceResult { device, path } in all {
        add(&mut rows, header, device, &read(path)?, durability, wanted)?;
    }
    rows.end()
}
