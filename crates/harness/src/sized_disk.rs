//! A file system of a fixed size for a trial that is timed, of a workload that goes on until it is steady.

use embermark_model::Scale;
use embermark_model::plan::Plan;

/// Bytes of it at least: a server's own tables have room, and its log, of which PostgreSQL keeps 2 GiB and
/// more. The file is sparse.
const LEAST: u64 = 4 << 30;

/// Bytes for a row that is kept: more than sixty times what is in it.
const BYTES_PER_ROW: u64 = 2 << 10;

/// Bytes of the file system where nobody says how many.
fn usual(scale: Scale) -> u64 {
    match scale {
        Scale::Rows(rows) => rows.saturating_mul(BYTES_PER_ROW).max(LEAST),
        Scale::Full => LEAST,
    }
}

/// Bytes of the file system of a trial at a scale.
pub(crate) fn bytes(plan: &Plan, scale: Scale) -> u64 {
    plan.disk_bytes.unwrap_or_else(|| usual(scale))
}
