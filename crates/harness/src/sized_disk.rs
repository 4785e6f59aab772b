//! A file system of a fixed size for a timed trial of a workload that runs until it is steady.

use embermark_model::Scale;
use embermark_model::plan::Plan;

/// Smallest size in bytes. It has room for a server's own tables and its log, which takes 2 GiB or
/// more in PostgreSQL. The file is sparse.
const MIN_BYTES: u64 = 4 << 30;

/// Bytes per row of the window: more than sixty times its content.
const BYTES_PER_ROW: u64 = 2 << 10;

/// Returns the default size of the file system in bytes.
fn usual(scale: Scale) -> u64 {
    match scale {
        Scale::Rows(rows) => rows.saturating_mul(BYTES_PER_ROW).max(MIN_BYTES),
        Scale::Full => MIN_BYTES,
    }
}

/// Returns the size of the file system of a trial at a scale in bytes.
pub(crate) fn bytes(plan: &Plan, scale: Scale) -> u64 {
    plan.disk_bytes.unwrap_or_else(|| usual(scale))
}
