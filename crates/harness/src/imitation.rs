//! Imitated storages below the databases of a run.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use embermark_blockdev::enter_mount_namespace;
use embermark_model::plan::Plan;
use embermark_model::result::StoragePath;
use embermark_model::{CellId, Storage, StorageName};
use embermark_storage::Imitator;
use nix::unistd::geteuid;

use crate::cells::{self, PlannedCell};
use crate::database_size::{disk_bytes, needed_bytes};
use crate::machine_limits::check_machine;
use crate::trial_disk::{self, Device, Disk};
use crate::{Catalog, Result, RunOptions, device};

/// Imitates storages for the trials of a run. Only this process and its children see the mounts,
/// which end with them.
#[derive(Debug)]
pub(crate) struct Imitation {
    imitator: Imitator,
    /// Size of a trial's file system in bytes.
    bytes: u64,
}

impl Imitation {
    /// Gives this thread, and the processes that it starts, their own mounts. Measures the path to
    /// an imitated storage in `data`. File systems have room for databases of `needed` bytes.
    ///
    /// # Errors
    /// If root, FUSE or a loop device is not available. The error gives the reason and what to do.
    pub fn begin(data: &Path, needed: u64) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err("only root may give a trial an imitated storage: run as root".to_owned());
        }
        enter_mount_namespace().map_err(|error| error.to_string())?;
        let imitator = Imitator::begin(data).map_err(|error| error.to_string())?;
        Ok(Self { imitator, bytes: trial_disk::bytes_for(needed, data) })
    }

    /// Returns what the path to an imitated storage costs.
    pub const fn path(&self) -> StoragePath {
        self.imitator.path()
    }

    /// Mounts a storage with a file system of `bytes` bytes next to `folder`.
    pub fn disk(&self, folder: &Path, bytes: u64, storage: &Storage) -> Result<Disk, String> {
        Disk::create(folder, bytes, Device::Imitated(&self.imitator, storage))
    }

    /// Returns the size of the file system of a cell's trials in bytes.
    pub(crate) fn bytes_of(&self, cell: &CellId, plan: &Plan, catalog: &Catalog) -> u64 {
        match catalog.until_steady(cell) {
            true => disk_bytes(plan, cell.scale),
            false => self.bytes,
        }
    }

    /// Checks that a storage with a file system of `bytes` can be imitated here.
    fn check_storage(&self, storage: &Storage, bytes: u64) -> Result<(), String> {
        self.imitator.check_imitable(storage, bytes).map_err(|error| error.to_string())
    }
}

/// Adds the storage that an emulated device usually has to a plan that names none. `None` if the
/// plan names one.
///
/// # Errors
/// If that storage cannot be imitated here. The error gives the reason.
pub(crate) fn for_device(
    plan: &Plan,
    data: &Path,
    needed: u64,
) -> Result<Option<(Plan, Imitation)>, String> {
    if !plan.storages.is_empty() {
        return Ok(None);
    }
    let storage = embermark_storage::built_in(device::STORAGE).map_err(|e| e.to_string())?;
    let imitation = Imitation::begin(data, needed)?;
    imitation.check_storage(&storage, imitation.bytes)?;
    Ok(Some((Plan { storages: vec![Some(storage)], ..plan.clone() }, imitation)))
}

/// Preview of what a run would measure.
#[derive(Debug)]
pub struct PlanPreview {
    /// Its cells.
    pub cells: Vec<PlannedCell>,
    /// Storage of the emulated device, or the reason why it cannot be imitated here.
    /// `None` without a device, or if the plan names a storage.
    pub device_storage: Option<Result<StorageName, String>>,
}

/// Returns what a run would measure. Tests the imitation in `folder` if a cell has a storage.
///
/// # Errors
/// If the run would be refused: the plan names something unknown, asks for nothing or contradicts
/// itself, or this machine does not allow it.
pub fn preview(plan: &Plan, options: &RunOptions, folder: &Path) -> Result<PlanPreview> {
    check_machine(plan)?;
    let catalog = options.catalog.with_files(plan)?;
    let foresee = || {
        let mut cells = cells::planned(plan, &catalog)?;
        let needed = needed_bytes(plan, &cells);
        let device = options.device.map(|_| for_device(plan, folder, needed));
        let (device_storage, begun) = match device {
            Some(Ok(Some((with_card, imitation)))) => {
                cells = cells::planned(&with_card, &catalog)?;
                (
                    with_card.storages.iter().flatten().map(|own| Ok(own.name)).next(),
                    Some(imitation),
                )
            }
            Some(Err(why)) => (Some(Err(why)), None),
            Some(Ok(None)) | None => (None, None),
        };
        if begun.is_none() {
            for_cells(&mut cells, plan, &catalog, || Imitation::begin(folder, needed));
        }
        Ok(PlanPreview { cells, device_storage })
    };
    // This thread keeps the mounts that it sees.
    thread::scope(|scope| scope.spawn(foresee).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Begins the imitation of the storages of a run's cells. `None` if no cell that runs has one.
/// Cells whose storage cannot be imitated here are skipped, with the reason.
pub(crate) fn for_cells(
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
        let size = |cell: &PlannedCell| imitation.bytes_of(&cell.id, plan, catalog);
        let sizes: BTreeSet<u64> = cells.iter().filter(own).map(size).collect();
        for bytes in sizes {
            if let Err(why) = imitation.check_storage(storage, bytes) {
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

pub(crate) fn has_storage(cell: &PlannedCell) -> bool {
    cell.skip.is_none() && cell.id.storage.is_some()
}
