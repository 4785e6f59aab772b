//! The runs of one or many results in one table, which is written result by result: no more than one of
//! them is in memory.

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
use crate::shown::Record;

/// A result of many, and the device that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfDevice {
    /// The device's name.
    pub device: String,
    /// The result file.
    pub path: PathBuf,
}

/// Writes the runs of all results as CSV into `out`: what [`crate::render`] gives of one, one header for all.
/// `read` reads a result, each of them twice.
///
/// # Errors
/// When a result cannot be read, or `out` not be written.
pub fn csv_of<W: Write>(
    all: &[OfDevice],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    out: W,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    write(Csv::new(&header, out)?, &header, all, read, durability, |_| true)
}

/// The same as Parquet: what [`crate::parquet()`] writes of one.
///
/// # Errors
/// As [`csv_of`].
pub fn parquet_of<W: Write + Send>(
    all: &[OfDevice],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    out: W,
) -> Result<(), ReportError> {
    let header = header(all, &read, durability)?;
    write(Parquet::new(&header, out)?, &header, all, read, durability, |line| line.run.is_some())
}

/// Names of what was watched differ from result to result.
fn header(
    all: &[OfDevice],
    read: &impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
) -> Result<Header, ReportError> {
    let mut header = Header::default();
    for OfDevice { device, path } in all {
        header.add(&columns::of(device, &read(path)?, durability));
    }
    Ok(header)
}

fn write(
    mut rows: impl Rows,
    header: &Header,
    all: &[OfDevice],
    read: impl Fn(&Path) -> Result<ResultFile, ReportError>,
    durability: &Record,
    wanted: fn(&Line<'_>) -> bool,
) -> Result<(), ReportError> {
    for OfDevice { device, path } in all {
        add(&mut rows, header, device, &read(path)?, durability, wanted)?;
    }
    rows.end()
}
