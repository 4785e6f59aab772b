//! Stages a year of telemetry as a table, whose columns a workload file names.

use std::path::Path;

use embermark_model::table::{Table, Value};

use super::writer;
use crate::DataError;
use crate::telemetry::{Payload, generate};

/// Generates `rows` events and writes them as the rows of a table to `to`, for
/// [`super::StagedTable::open`], replacing its content. Returns their number. The columns are
/// number, time, bucket, and the content of events: longitude, latitude, carbon dioxide, and for
/// log lines span, level, user, message and endpoint.
///
/// # Errors
/// [`DataError::Unwritable`] if the file cannot be written.
pub(super) fn stage(table: &Table, rows: u64, seed: u64, to: &Path) -> Result<u64, DataError> {
    let events = generate(rows, seed);
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
    writer::write(table, rows, to)
}
