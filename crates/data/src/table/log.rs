//! The log of room sensors as a table: one of six columns, which a workload file names.

use std::path::Path;

use embermark_model::Reading;
use embermark_model::table::{Keep, Table, Value};

use super::writer::TableWriter;
use crate::DataError;

/// Readings that are written at once.
const BLOCK: usize = 1_024;

/// Writes readings as the rows of a table to `to`, for [`super::StagedTable::open`], in place of what was there. Its
/// columns are the sensor, the time in microseconds, and the four values. Of rows of one key the first is kept.
///
/// # Errors
/// [`DataError::Unwritable`].
pub fn stage_log(table: &Table, readings: &[Reading], to: &Path) -> Result<u64, DataError> {
    let mut writer = TableWriter::create(to, &table.columns, &table.key, Keep::First)?;
    for block in readings.chunks(BLOCK) {
        writer.begin(block.len());
        for (row, reading) in block.iter().enumerate() {
            writer.put(row, 0, Value::Int(i64::from(reading.sensor)));
            writer.put(row, 1, Value::Int(reading.ts));
            for column in 0..Reading::COLUMNS.len() {
                let value = reading.get(column).map_or(Value::Null, Value::Float);
                writer.put(row, 2 + column, value);
            }
        }
        writer.end()?;
    }
    let rows = writer.rows();
    Ok(rows - writer.finish()?.count)
}
