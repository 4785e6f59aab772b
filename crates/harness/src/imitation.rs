//! Imitated storages below the databases of a run.

use std::path::Path;

use embermark_blockdev::{Kept, own_mounts};
use embermark_model::plan::Plan;
use embermark_model::result::{StoragePath, StorageTimes};
use embermark_model::{CellId, Storage, StorageName};
use embermark_storage::{FlashWork, Imitator};
use nix::unistd::geteuid;

use crate::cells::{self, PlannedCell};
use crate::isolation::{self, Device, Disk};
use crate::session::Run;
use crate::{Catalog, HarnessError, device, sized_disk};

/// The way to imitated storages. What is mounted is seen by this process and its children alone, and gone with
/// them.
#[derive(Debug)]
pub(crate) struct Imitation {
    imitator: Imitator,
    /// Bytes of the file system of a trial.
    bytes: u64,
}

impl Imitation {
    /// Makes this thread, and the processes it will start, see mounts of their own, and measures in `data` what
    /// the way to an imitated storage takes. File systems will have room for databases of `needed` bytes.
    ///
    /// # Errors
    /// Why not, and what to do, when the user or the system may not.
    pub fn begin(data: &Path, needed: u64) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root may give a trial an imitated storage: run as root".to_owned());
        }
        own_mounts().map_err(|error| error.to_string())?;
        let imitator = Imitator::begin(data).map_err(|error| error.to_string())?;
        Ok(Self { imitator, bytes: isolation::bytes_for(needed, data) })
    }

    /// What the way to an imitated storage takes.
    pub fn path(&self) -> StoragePath {
        let path = self.imitator.path();
        StoragePath {
            read_ns: path.read_ns,
            write_ns: path.write_ns,
            flush_ns: path.flush_ns,
            kib_ns: path.kib_ns,
        }
    }

    /// Bytes of the file system of a cell's trials.
    fn bytes_of(&self, cell: &CellId, plan: &Plan, catalog: &Catalog) -> u64 {
        match catalog.until_steady(cell) {
            true => sized_disk::bytes(plan, cell.scale),
            false => self.bytes,
        }
    }

    /// Whether a storage can be imitated here with a file system of so many bytes on it.
    fn can(&self, storage: &Storage, bytes: u64) -> Result<(), String> {
        self.imitator.can(storage, bytes).map_err(|error| error.to_string())
    }
}

/// A plan with the storage that an emulated device usually has, where the plan names none and that one can be imitated
/// here.
pub(crate) fn of_device(plan: &Plan, data: &Path, needed: u64) -> Option<(Plan, Imitation)> {
    if !plan.storages.is_empty() {
        return None;
    }
    let storage = embermark_storage::built_in(device::STORAGE).ok()?;
    let imitation = Imitation::begin(data, needed).ok()?;
    imitation.can(&storage, imitation.bytes).ok()?;
    Some((Plan { storages: vec![Some(storage)], ..plan.clone() }, imitation))
}

/// The way to the storages of a run's cells, where some of those that run have one. Cells whose storage cannot be
/// imitated here are left out, with the reason.
pub(crate) fn of_cells(
    cells: &mut [PlannedCell],
    plan: &Plan,
    catalog: &Catalog,
    begin: impl FnOnce() -> Result<Imitation, String>,
) -> Option<Imitation> {
    if !cells.iter().any(has_storage) {
        return None;
    }
    let imitation = match begin() {
        Ok(imitation) => imitation,
        Err(why) => {
            cells::skip_storages(cells, |id| id.storage.is_some(), &why);
            return None;
        }
    };
    for storage in plan.storages.iter().flatten() {
        let own = |cell: &&PlannedCell| has_storage(cell) && cell.id.storage == Some(storage.name);
        let sizes = cells.iter().filter(own);
        let mut sizes: Vec<u64> =
            sizes.map(|cell| imitation.bytes_of(&cell.id, plan, catalog)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for bytes in sizes {
            if let Err(why) = imitation.can(storage, bytes) {
                let refused = |id: &CellId| {
                    id.storage == Some(storage.name)
                        && imitation.bytes_of(id, plan, catalog) == bytes
                };
                cells::skip_storages(cells, refused, &why);
            }
        }
    }
    cells.iter().any(has_storage).then_some(imitation)
}

fn has_storage(cell: &PlannedCell) -> bool {
    cell.skip.is_none() && cell.id.storage.is_some()
}

impl Run<'_> {
    /// A disk for a trial of a cell with a storage beside `folder`.
    pub(crate) fn imitated_disk(
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
        Disk::create(folder, bytes, Device::Imitated(&imitation.imitator, storage)).map_err(refused)
    }
}

/// How well a storage kept its times, and what its flash went through, as a result has it.
pub(crate) fn times(kept: Kept, flash: Option<FlashWork>) -> StorageTimes {
    let Kept { requests, late, latest_ns, time_ns, late_ns } = kept;
    let programmed_bytes = flash.map(|flash| flash.programmed_bytes);
    let erases = flash.map(|flash| flash.erases);
    StorageTimes { requests, late, latest_ns, time_ns, late_ns, programmed_bytes, erases }
}
