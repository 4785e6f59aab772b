//! An imitated storage below the databases whose processes are killed.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_durability::{FileSystem, own_mounts};
use embermark_model::Storage;
use embermark_storage::{Imitated, Imitator};

/// Bytes of the file system. Its image is sparse.
const BYTES: u64 = 4 << 30;

/// The way to the storage of a run.
pub(super) struct Media<'a> {
    imitator: Imitator,
    storage: &'a Storage,
    file_system: FileSystem,
    folder: PathBuf,
}

impl<'a> Media<'a> {
    /// Makes this thread, and the processes it will start, see mounts of their own, and measures in `folder`, which is
    /// made, what the way to an imitated storage takes.
    ///
    /// # Errors
    /// Why the storage cannot be imitated here.
    pub fn begin(
        storage: &'a Storage,
        file_system: FileSystem,
        folder: &Path,
    ) -> Result<Self, String> {
        own_mounts().map_err(|error| error.to_string())?;
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let imitator = Imitator::begin(folder).map_err(|error| error.to_string())?;
        imitator.can(storage, BYTES).map_err(|error| error.to_string())?;
        Ok(Self { imitator, storage, file_system, folder: folder.to_owned() })
    }

    /// A new file system on it, for one experiment.
    ///
    /// # Errors
    /// The image cannot be made or mounted, with the reason.
    pub fn mount(&self) -> Result<Mounted, String> {
        let image = self.folder.join("medium.img");
        self.file_system.make(&image, BYTES).map_err(|error| error.to_string())?;
        let at = self.folder.join("medium");
        let imitated = self.imitator.mount(self.storage, &at, &image, self.file_system);
        let imitated = imitated.map_err(|error| error.to_string())?;
        Ok(Mounted { imitated, image })
    }
}

/// A file system that is mounted.
pub(super) struct Mounted {
    imitated: Imitated,
    image: PathBuf,
}

impl Mounted {
    /// Where.
    pub fn at(&self) -> &Path {
        &self.imitated.at
    }

    /// Unmounts it and removes it.
    ///
    /// # Errors
    /// When it is in use still.
    pub fn remove(self) -> Result<(), String> {
        self.imitated.unmount().map_err(|error| error.to_string())?;
        fs::remove_file(&self.image).map_err(|error| format!("{}: {error}", self.image.display()))
    }
}
