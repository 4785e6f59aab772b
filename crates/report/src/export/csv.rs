//! Writes the runs as CSV. Unmeasured values are empty.

use std::io::Write;

use ::csv::Writer;
use embermark_model::foreign::cell;
use embermark_model::result::ResultFile;

use super::column::{Get, Header};
use super::lines::Line;
use super::rows::{self, Rows};
use crate::ReportError;
use crate::evidence::Record;

/// A writer of CSV rows.
pub(super) struct Csv<W: Write>(Writer<W>);

impl<W: Write> Csv<W> {
    /// Writes the header.
    pub fn new(header: &Header, out: W) -> Result<Self, ReportError> {
        let mut writer = Writer::from_writer(out);
        writer.write_record(header.iter().map(|(name, _)| cell(name)))?;
        Ok(Self(writer))
    }
}

impl<W: Write> Rows for Csv<W> {
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError> {
        for line in rows {
            let value = |get: &Option<&Get>| match get {
                Some(get @ Get::Text(_)) => get.text(line).map(|text| cell(&text)),
                Some(get) => get.text(line),
                None => None,
            };
            self.0.write_record(columns.iter().map(|get| value(get).unwrap_or_default()))?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), ReportError> {
        Ok(self.0.flush().map_err(::csv::Error::from)?)
    }
}

/// # Errors
/// If the CSV writer fails, which it does not in memory.
pub(super) fn render(
    device: &str,
    file: &ResultFile,
    durability: &Record,
) -> Result<String, ReportError> {
    let header = rows::header_of(device, file, durability);
    let mut bytes = Vec::new();
    let mut csv = Csv::new(&header, &mut bytes)?;
    rows::add(&mut csv, &header, device, file, durability, |_| true)?;
    csv.end()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Formats records as CSV.
///
/// # Errors
/// If the CSV writer fails, which it does not in memory.
pub(crate) fn written(records: impl Iterator<Item = Vec<String>>) -> Result<String, ReportError> {
    let mut writer = Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record.iter().map(|text| cell(text)))?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
