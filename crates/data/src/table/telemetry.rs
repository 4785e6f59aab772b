//! A year of telemetry as a table, whose columns a workload file names.

use std::path::Path;

use embermark_model::table::{Keep, Table, Value};

use super::writer::TableWriter;
use crate::DataError;
use crate::telemetry::{Payload, generate};

/// Events that are written at once.
const BLOCK: usize = 1_024;

/// Makes so many events and writes them as the rows of a table to `to`, for [`super::StagedTable::open`], in place of
/// what was there; how many they are. Its columns are number, time, bucket, and what events tell: longitude, latitude,
/// carbon dioxide, and of log lines span, level, user, message and endpoint.
///
/// # Errors
/// [`DataError::Unwritable`].
pub(super) fn stage(table: &Table, rows: u64, seed: u64, to: &Path) -> Result<u64, DataError> {
    let mut writer = TableWriter::create(to, &table.columns, &table.key, Keep::First)?;
    for block in generate(rows, seed).chunks(BLOCK) {
        writer.begin(block.len());
        for (row, event) in block.iter().enumerate() {
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
            let own = [
                Value::Int(event.id),
                Value::Int(event.timestamp),
                Value::Text(event.data.bucket()),
            ];
            for (column, value) in own.into_iter().chain(tells).enumerate() {
                writer.put(row, column, value);
            }
        }
        writer.end()?;
    }
    let rows = writer.rows();
    Ok(rows - writer.finish()?.count)
}
