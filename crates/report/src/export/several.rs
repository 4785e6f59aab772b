//! The runs of one or many results in one table, which is written result by result: no more than one of
//! them is in memory.

use std::io::Write;
use std::path::{Path, PathBuf};

use embermark_model::result::ResultFile;

use super::column::{Get, Header};
use super::columns;
use super::csv::Csv;
use super::lines::{self, Line};
use super::parquet::Parquet;
use super::statistics;
use crate::shown::Record;
use crate::{ReportError, summary};

/// A result of many, and the device that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfDevice {
    /// The device's name.
    pub device: String,
    /// The result file.
    pub path: PathBuf,
}

/// A form that is written row by row.
pub(super) trait Rows {
    /// Adds the rows of a result, whose columns are the header's in its order.
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError>;

    /// Ends what is written.
    fn end(self) -> Result<(), ReportError>;
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

/// Adds one result.
pub(super) fn add(
    rows: &mut impl Rows,
    header: &Header,
    device: &str,
    result: &ResultFile,
    durability: &Record,
    wanted: fn(&Line<'_>) -> bool,
) -> Result<(), ReportError> {
    let comparison = summary::compare(result, &[]);
    let statistics = statistics::of(&comparison);
    let mut lines = lines::of(result, &statistics);
    lines.retain(wanted);
    let columns = columns::of(device, result, durability);
    rows.add(&header.of(&columns), &lines)
}

/// The header of one result.
pub(super) fn header_of(device: &str, result: &ResultFile, durability: &Record) -> Header {
    let mut header = Header::default();
    header.add(&columns::of(device, result, durability));
    header
}
