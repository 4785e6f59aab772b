//! Estimates the size of a plan's databases, and of the file systems for them.

use embermark_model::Scale;
use embermark_model::plan::{DataSource, Plan};

use crate::cells::PlannedCell;

/// Largest number of bytes per row in a database, for the warning about free space: twenty times
/// the 48 bytes of a row in memory.
const BYTES_PER_ROW: u64 = 48 * 20;

/// Estimates the size in bytes of the largest database of a plan.
pub(crate) fn needed_bytes(plan: &Plan, cells: &[PlannedCell]) -> u64 {
    let whole_file = match &plan.data {
        // A row of text is about as long as one in memory.
        DataSource::File(file) => file.metadata().map_or(0, |meta| meta.len() * 20),
        DataSource::Synthetic => 0,
    };
    let bytes = cells.iter().map(|cell| match cell.id.scale {
        Scale::Rows(rows) => rows * BYTES_PER_ROW,
        Scale::Full => whole_file,
    });
    bytes.max().unwrap_or(0)
}

/// Smallest size in bytes of the file system for a trial that runs until it is steady. It has room
/// for a server's own tables and its log, which takes 2 GiB or more in PostgreSQL. The file is sparse.
const MIN_DISK_BYTES: u64 = 4 << 30;

/// Bytes per row of the window on such a file system: more than sixty times its content.
const DISK_BYTES_PER_ROW: u64 = 2 << 10;

/// Returns the size in bytes of the file system for a trial that runs until it is steady.
pub(crate) fn disk_bytes(plan: &Plan, scale: Scale) -> u64 {
    plan.disk_bytes.unwrap_or(match scale {
        Scale::Rows(rows) => rows.saturating_mul(DISK_BYTES_PER_ROW).max(MIN_DISK_BYTES),
        Scale::Full => MIN_DISK_BYTES,
    })
}
