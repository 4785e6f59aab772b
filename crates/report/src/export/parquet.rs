//! The runs in columns, with one row per run.

use std::path::Path;

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
/// If DuckDB, which makes it, is not installed, or `out` cannot be written.
pub fn parquet(
    device: &str,
    result: &ResultFile,
    durability: &Record,
    out: &Path,
) -> Result<(), ReportError> {
    let header = rows::header_of(device, result, durability);
    let mut rows = Parquet::new(&header, out)?;
    rows::add(&mut rows, &header, device, result, durability, |line| line.run.is_some())?;
    rows.end()
}

/// A writer of Parquet rows.
pub(super) struct Parquet(ParquetWriter);

impl Parquet {
    /// Begins a file.
    pub fn new(header: &Header, out: &Path) -> Result<Self, ReportError> {
        let columns = header.iter().map(|(name, kind)| {
            let of = match kind {
                Kind::Text => "VARCHAR",
                Kind::Flag => "BOOLEAN",
                Kind::Whole => "BIGINT",
                Kind::Real => "DOUBLE",
            };
            (name.clone(), of)
        });
        Ok(Self(ParquetWriter::new(columns.collect(), out)?))
    }
}

impl Rows for Parquet {
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
