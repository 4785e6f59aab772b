//! A file system of a fixed size for a timed trial of a workload that runs until it is steady.

use embermark_model::Scale;
use embermark_model::plan::Plan;

/// Smallest size in bytes, with room for a server's own tables and its log, of which PostgreSQL
/// keeps 2 GiB and more. The file is sparse.
const LEAST: u64 = 4 << 30;

/// Bytes per row that is kept: more than sixty times its content.
const BYTES_PER_ROW: u64 = 2 << 10;

/// Returns the default size of the file system in bytes.
fn usual(scale: Scale) -> u64 {
    match scale {
        Scale::Rows(rows) => rows.saturating_mul(BYTES_PER_ROW).max(LEAST),
        Scale::Full => LEAST,
    }
}

/// Returns the size of the file system of a trial at a scale in bytes.
pub(crate) fn bytes(plan: &Plan, scale: Scale) -> u64 {
    plan.disk_bytes.unwrap_or_else(|| usual(scale))
}
