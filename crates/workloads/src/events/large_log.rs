//! A log that holds every row.

use embermark_contract::{EngineError, Result};

use super::bench::insert_all;
use super::port::{Record, Telemetry};

/// Bytes of a row beside its text: key, time, bucket.
const BESIDE: u64 = 17;

/// Inserts every row into an empty table whose engine takes no checkpoint from then on; the bytes of its
/// log.
pub(super) fn fill(store: &mut dyn Telemetry, records: &[Record]) -> Result<u64> {
    // What is in the log before is none of the rows'.
    store.lifecycle().maintain()?;
    let bytes = records.iter().map(|record| record.json.len() as u64 + BESIDE).sum();
    store.lifecycle().suspend_checkpoints(bytes)?;
    insert_all(store, records)?;
    let bytes = store.lifecycle().log_bytes()?;
    let rows: u64 = records.iter().map(|record| record.event.value_bytes()).sum();
    if bytes >= rows {
        return Ok(bytes);
    }
    let why = format!("it has {bytes} bytes, and the rows' values have {rows}");
    Err(EngineError::failed("the engine", "keep every row in its log", why))
}
