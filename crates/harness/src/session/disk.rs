//! The disk of one trial, if it has its own.

use std::path::Path;

use embermark_model::{CellId, StorageName};

use super::Run;
use crate::trial_disk::{Disk, TrialDisks};
use crate::{HarnessError, sized_disk};

impl Run<'_> {
    /// Mounts the storage of a cell for one trial, next to `folder`.
    pub(super) fn imitated_disk(
        &self,
        cell: &CellId,
        name: StorageName,
        folder: &Path,
    ) -> Result<Disk, HarnessError> {
        let refused = |why: String| HarnessError::Storage { storage: name, why };
        let storage = self.plan.storage(name).ok_or("the plan does not describe it");
        let storage = storage.map_err(|why| refused(why.to_owned()))?;
        let imitation = self.imitation.as_ref().ok_or("nothing imitates storages in this run");
        let imitation = imitation.map_err(|why| refused(why.to_owned()))?;
        let bytes = imitation.bytes_of(cell, self.plan, &self.options.catalog);
        imitation.disk(folder, bytes, storage).map_err(refused)
    }

    /// Makes a disk next to `folder` for a trial of a cell. `None` if that is impossible, with one
    /// warning per run, or if only answers are checked. The database is then in the ordinary
    /// folder.
    pub(super) fn sized_disk(
        &mut self,
        cell: &CellId,
        folder: &Path,
    ) -> Result<Option<Disk>, HarnessError> {
        if self.options.once_per_setting {
            return Ok(None);
        }
        let bytes = sized_disk::bytes(self.plan, cell.scale);
        if self.trial_disks.is_none() {
            let begun = TrialDisks::begin(&self.dirs.data, bytes);
            if let Err(why) = &begun {
                self.warn(format!(
                    "{} is in the ordinary folder, and not in its own file system of a fixed size, \
                     whose writes could be counted: {why}",
                    cell.workload
                ))?;
            }
            self.trial_disks = Some(begun);
        }
        match &self.trial_disks {
            Some(Ok(trial_disks)) => trial_disks.disk_of(folder, bytes).map(Some),
            _ => Ok(None),
        }
    }
}
