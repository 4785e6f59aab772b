//! An imitated storage below the databases whose processes are killed.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_durability::{FileSystem, enter_mount_namespace};
use embermark_model::Storage;
use embermark_storage::{Imitated, Imitator};

/// Size of the file system in bytes. Its image is sparse.
const BYTES: u64 = 4 << 30;

/// The storage of a run, with the measured cost of the path to it.
pub(super) struct KillStorage<'a> {
    imitator: Imitator,
    storage: &'a Storage,
    file_system: FileSystem,
    folder: PathBuf,
}

impl<'a> KillStorage<'a> {
    /// Gives this thread, and the processes that it starts, their own mounts. Measures the path to
    /// an imitated storage in `folder`, which it creates.
    ///
    /// # Errors
    /// Why the storage cannot be imitated here.
    pub fn begin(
        storage: &'a Storage,
        file_system: FileSystem,
        folder: &Path,
    ) -> Result<Self, String> {
        enter_mount_namespace().map_err(|error| error.to_string())?;
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let imitator = Imitator::begin(folder).map_err(|error| error.to_string())?;
        imitator.check_imitable(storage, BYTES).map_err(|error| error.to_string())?;
        Ok(Self { imitator, storage, file_system, folder: folder.to_owned() })
    }

    /// Mounts a new file system on the storage for one experiment.
    ///
    /// # Errors
    /// The reason why the image cannot be made or mounted.
    pub fn mount(&self) -> Result<Imitated, String> {
        let image = self.folder.join("medium.img");
        self.file_system.make(&image, BYTES).map_err(|error| error.to_string())?;
        let at = self.folder.join("medium");
        let mounted = self.imitator.mount(self.storage, &at, &image, self.file_system);
        mounted.map_err(|error| error.to_string())
    }
}
