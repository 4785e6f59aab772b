//! Stages the log of room sensors as a table with six columns, which a workload file names.

use std::path::Path;

use embermark_model::Reading;
use embermark_model::table::{Table, Value};

use super::writer;
use crate::DataError;

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
    writer::write(table, rows, to)
}
