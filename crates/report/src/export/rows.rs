//! Rows of a table that is written result by result.

use embermark_model::result::ResultFile;

use super::column::{Get, Header};
use super::lines::{self, Line};
use super::{columns, statistics};
use crate::ReportError;
use crate::evidence::{self, Record};

/// A format that is written row by row.
pub(super) trait Rows {
    /// Adds the rows of a result. Its columns are in the order of the header.
    fn add(&mut self, columns: &[Option<&Get>], rows: &[Line<'_>]) -> Result<(), ReportError>;

    /// Finishes the output.
    fn end(self) -> Result<(), ReportError>;
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
    let (comparison, _) = evidence::compare(result, &[], durability);
    let statistics = statistics::phase_statistics(&comparison);
    let mut lines = lines::run_lines(result, &statistics);
    lines.retain(wanted);
    let columns = columns::all_columns(device, result, durability);
    rows.add(&header.matching(&columns), &lines)
}

/// Returns the header of one result.
pub(super) fn header_of(device: &str, result: &ResultFile, durability: &Record) -> Header {
    let mut header = Header::default();
    header.add(&columns::all_columns(device, result, durability));
    header
}
