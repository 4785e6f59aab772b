//! The runs as CSV. What was not measured is empty.

use ::csv::Writer;
use embermark_model::result::ResultFile;

use super::columns::{self, Get};
use super::{lines, statistics};
use crate::shown::Record;
use crate::{ReportError, summary};

/// # Errors
/// When the CSV writer fails, which it does not on memory.
pub(super) fn render(file: &ResultFile, durability: &Record) -> Result<String, ReportError> {
    let comparison = summary::compare(file, &[]);
    let statistics = statistics::of(&comparison);
    let columns = columns::of(file, durability);
    let header = columns.iter().map(|column| column.name.clone()).collect();
    let lines = lines::of(file, &statistics);
    let record = |line: &lines::Line<'_>| {
        let value = |get: &Get| match get {
            Get::Text(get) => get(line),
            Get::Flag(get) => get(line).map(|flag| flag.to_string()),
            Get::Whole(get) => get(line).map(|number| number.to_string()),
            Get::Real(get) => get(line).map(|number| number.to_string()),
        };
        columns.iter().map(|column| value(&column.get).unwrap_or_default()).collect()
    };
    written([header].into_iter().chain(lines.iter().map(record)))
}

/// Records as a text.
///
/// # Errors
/// When the CSV writer fails, which it does not on memory.
pub(crate) fn written(records: impl Iterator<Item = Vec<String>>) -> Result<String, ReportError> {
    let mut writer = Writer::from_writer(Vec::new());
    for record in records {
        writer.write_record(record)?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
