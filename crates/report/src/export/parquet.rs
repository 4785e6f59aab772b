//! The runs in columns, with one row per run.

use std::io::Write;

use embermark_data::ParquetWriter;
use embermark_model::result::ResultFile;

use super::column::{Get, Header, Kind};
use super::lines::Line;
use super::rows::{self, Rows};
use crate::ReportError;
use crate::evidence::Record;

/// Writes every run of a device's result as Parquet, compressed with Snappy. It has the columns of
/// the CSV as text, BOOLEAN, INT64 and DOUBLE. Unmeasured values are NULL. `durability` has the
/// evidence for the tiers.
///
/// # Errors
/// If DuckDB, which makes it, is not installed, or `file` cannot be written.
pub fn parquet<W: Write>(
    device: &str,
    result: &ResultFile,
    durability: &Record,
    file: W,
) -> Result<(), ReportError> {
    let header = rows::header_of(device, result, durability);
    let mut rows = Parquet::new(&header, file)?;
    rows::add(&mut rows, &header, device, result, durability, |line| line.run.is_some())?;
    rows.end()
}

/// A writer of Parquet rows.
pub(super) struct Parquet<W>(ParquetWriter<W>);

impl<W: Write> Parquet<W> {
    /// Begins a file.
    pub fn new(header: &Header, file: W) -> Result<Self, ReportError> {
        let columns = header.iter().map(|(name, kind)| {
            let of = match kind {
                Kind::Text => "VARCHAR",
                Kind::Flag => "BOOLEAN",
                Kind::Whole => "BIGINT",
                Kind::Real => "DOUBLE",
            };
            (name.clone(), of)
        });
        Ok(Self(ParquetWriter::new(columns.collect(), file)?))
    }
}

impl<W: Write> Rows for Parquet<W> {
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError> {
        for line in rows {
            self.0.add(columns.iter().map(|get| get.and_then(|get| get.text(line))))?;
        }
        Ok(())
    }

    fn end(self) -> Result<(), ReportError> {
        Ok(self.0.finish()?)
    }
}
