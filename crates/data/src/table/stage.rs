//! Checks and stages the rows of a table.

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::Reading;
use embermark_model::table::{Keep, RowsFrom, Table, Value};

use super::arrivals::Arrivals;
use super::fault::check_value;
use super::generated::generators;
use super::refused::{DUPLICATE_KEY, Refused, value_excerpt};
use super::writer::{TableWriter, write};
use crate::telemetry::{self, Payload};
use crate::{DataError, synthetic};

/// Outcome of staging the rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// Number of rows that are staged.
    pub rows: u64,
    /// Number of rows that are not, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Unusual properties of staged rows, with counts.
    pub remarks: BTreeMap<String, u64>,
    /// SHA-256 of the file they were read from, in hexadecimal. For several files it is that of
    /// their digests.
    pub sha256: Option<String>,
    /// The file they were read from. The first of several.
    pub file: Option<PathBuf>,
    /// Positions of the first two rows with the same key, if there are any.
    pub first_duplicates: Option<(String, String)>,
    /// Of rows of files, by column: the values that the table's words for missing values would make
    /// absent, and the column's own words do not.
    pub kept: Vec<u64>,
}

const DUPLICATES_REMARK: &str = "a duplicate key: one row is kept, by the table's `keep`";

/// Writes the rows of a table to `to`, for [`super::StagedTable::open`], replacing its content.
///
/// `base` is the folder of the workload file. `limit` is the number of rows wanted: the first rows
/// of a file, which may have fewer, or the number of rows of a generated table instead of its own.
/// Rows that do not match are dropped and counted, and so are those with the key of an earlier row.
///
/// Temporary files next to `to` are as large as the texts of the rows, plus 16 bytes per row if the
/// rows are not in the order of their keys.
///
/// # Errors
/// [`DataError::RowsRefused`] if the share of rows that do not match is above `lenient`; those of
/// opening and reading the file; [`DataError::Changed`] if it is written to meanwhile;
/// [`DataError::Unwritable`]; [`DataError::Unmakeable`].
pub fn stage(
    tables: &[Table],
    table: usize,
    base: &Path,
    limit: Option<u64>,
    seed: u64,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    match &tables[table].rows {
        RowsFrom::Made(rows) => {
            stage_generated(tables, table, limit.unwrap_or(*rows), seed, lenient, to)
        }
        RowsFrom::File(rows) => files::read(&tables[table], rows, base, limit, lenient, to),
        RowsFrom::Telemetry(rows) => {
            let rows = stage_telemetry(&tables[table], limit.unwrap_or(*rows), seed, to)?;
            Ok(Staged { rows, ..Staged::default() })
        }
        RowsFrom::Log(rows) => {
            let log = synthetic::sampled(limit.unwrap_or(*rows), seed)?;
            let rows = stage_log(&tables[table], &log.readings, to)?;
            Ok(Staged { rows, remarks: log.dataset.remarks, ..Staged::default() })
        }
    }
}

/// Writes readings as the rows of a table to `to`, for [`super::StagedTable::open`], replacing its
/// content. The columns are the sensor, the time in microseconds, and the four values. Of rows with
/// the same key the first is kept.
///
/// # Errors
/// [`DataError::Unwritable`] if the file cannot be written.
pub fn stage_log(table: &Table, readings: &[Reading], to: &Path) -> Result<u64, DataError> {
    let rows = readings.iter().map(|reading| {
        let key = [Value::Int(reading.sensor.into()), Value::Int(reading.ts)];
        let value = |column| reading.get(column).map_or(Value::Null, Value::Float);
        key.into_iter().chain((0..Reading::COLUMNS.len()).map(value))
    });
    write(table, rows, to)
}

/// Generates `rows` events and writes them as the rows of a table. Returns their number. The columns
/// are number, time, bucket, and the content of events: longitude, latitude, carbon dioxide, and
/// for log lines span, level, user, message and endpoint.
fn stage_telemetry(table: &Table, rows: u64, seed: u64, to: &Path) -> Result<u64, DataError> {
    let events = telemetry::generate(rows, seed);
    let rows = events.iter().map(|event| {
        let mut tells = [Value::Null; 8];
        match &event.data {
            Payload::Location { longitude, latitude } => {
                (tells[0], tells[1]) = (Value::Float(*longitude), Value::Float(*latitude));
            }
            Payload::Co2 { co2 } => tells[2] = Value::Float(*co2),
            Payload::Log(line) => {
                tells[3] = Value::Int(line.span_id);
                let texts = [line.level(), &line.user, &line.message, &line.endpoint];
                tells[4..].copy_from_slice(&texts.map(Value::Text));
            }
        }
        let own = [event.id, event.timestamp].map(Value::Int);
        own.into_iter().chain([Value::Text(event.data.bucket())]).chain(tells)
    });
    write(table, rows, to)
}

fn stage_generated(
    tables: &[Table],
    place: usize,
    rows: u64,
    seed: u64,
    lenient: f64,
    to: &Path,
) -> Result<Staged, DataError> {
    let table = &tables[place];
    let mut generators = generators(tables, place, rows, seed)?;
    let mut writer = TableWriter::create(to, &table.columns, &table.key, Keep::First)?;
    let mut refused = Refused::new(&table.columns);
    let mut arrivals = Arrivals::new(table, place, seed);
    for row in 0..rows {
        writer.begin(1);
        for (place, (generator, column)) in generators.iter_mut().zip(&table.columns).enumerate() {
            // The other values of a removed row are generated too, because a walk depends on them.
            let value = generator.value(row);
            match check_value(column, &value) {
                Ok(()) => writer.put(0, place, value),
                Err(fault) if !writer.is_left_out(0) => {
                    refused.count(place, fault, row, || value_excerpt(&value));
                    writer.leave_out(0);
                }
                Err(_) => {}
            }
        }
        let Some(arrivals) = &mut arrivals else {
            writer.end()?;
            continue;
        };
        if let Some(row) = writer.finish_row()? {
            arrivals.add(row);
        }
        while let Some(row) = arrivals.pop_arrived() {
            writer.append(&row)?;
        }
    }
    for row in arrivals.into_iter().flat_map(Arrivals::rest) {
        writer.append(&row)?;
    }
    let place = |row: u64| format!("row {}", row + 1);
    let from = PathBuf::from(format!("table {}", table.name));
    // Equal random keys are not a fault.
    let mut staged = finish(writer, refused, Keep::First, lenient, &from, &place, &place)?;
    let duplicates = staged.remarks.remove(DUPLICATES_REMARK);
    staged.dropped.extend(duplicates.map(|count| (DUPLICATE_KEY.to_owned(), count)));
    Ok(staged)
}

/// Completes the file and returns the outcome. `kept` returns the position of a row that was kept,
/// and `read` that of one that was read.
fn finish(
    writer: TableWriter<'_>,
    mut refused: Refused<'_>,
    keep: Keep,
    lenient: f64,
    from: &Path,
    kept: &dyn Fn(u64) -> String,
    read: &dyn Fn(u64) -> String,
) -> Result<Staged, DataError> {
    let rows = writer.rows();
    let duplicates = writer.finish()?;
    let pair = duplicates.first.map(|(first, second)| (kept(first), kept(second)));
    let mut remarks = BTreeMap::new();
    if duplicates.count > 0 && keep == Keep::One {
        refused.count_duplicates(duplicates.count, pair.as_ref());
    } else if duplicates.count > 0 {
        remarks.insert(DUPLICATES_REMARK.to_owned(), duplicates.count);
    }
    let rows = rows - duplicates.count;
    let dropped = refused.check_share(rows, lenient, from, read)?;
    Ok(Staged { rows, dropped, remarks, first_duplicates: pair, ..Staged::default() })
}

#[cfg(test)]
mod tests;
