//! A file system of a fixed size for a trial that is timed, of a workload that goes on until it is steady.

use std::path::Path;

use embermark_model::plan::Plan;
use embermark_model::{CellId, Scale};

use crate::HarnessError;
use crate::isolation::{Disk, Isolation};
use crate::session::Run;

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

impl Run<'_> {
    /// A disk for a trial of a cell beside `folder`; `None` where there can be none, which a warning says once,
    /// and where answers alone are looked at: then the database lies in the ordinary folder.
    pub(crate) fn sized_disk(
        &mut self,
        cell: &CellId,
        folder: &Path,
    ) -> Result<Option<Disk>, HarnessError> {
        if self.options.once_per_setting {
            return Ok(None);
        }
        let bytes = bytes(self.plan, cell.scale);
        if self.isolation.is_none() {
            let begun = Isolation::begin(&self.dirs.data, bytes);
            if let Err(why) = &begun {
                self.warn(format!(
                    "{} is in the ordinary folder and not in a file system of a fixed size of its own, \
                     whose writes could be counted: {why}",
                    cell.workload
                ))?;
            }
            self.isolation = Some(begun);
        }
        match &self.isolation {
            Some(Ok(isolation)) => isolation.disk_of(folder, bytes).map(Some),
            _ => Ok(None),
        }
    }
}
