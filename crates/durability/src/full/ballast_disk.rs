//! The file system that becomes full, and the files on it that do not belong to the engine.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use embermark_blockdev::Disk;
use nix::errno::Errno;
use nix::fcntl::posix_fallocate;

use crate::settings::{Result, Test, TestError};

/// Folder of the database. The root of a file system may have its own.
const DATABASE: &str = "database";
/// Files whose removal makes room: first one of them, then all.
const BALLAST: [&str; 2] = ["ballast-1", "ballast-2"];
/// File that represents another program: it takes the space that the engine must not have.
const OTHER: &str = "other";
/// Block size of every file system that can be requested.
pub(super) const BLOCK: u64 = 4096;

/// The file system.
pub(super) struct BallastDisk {
    disk: Disk,
    /// Largest space that the engine has for its work.
    most: u64,
}

impl BallastDisk {
    /// Makes a file system of `bytes` bytes below a folder.
    pub(super) fn create(test: &Test<'_>, folder: &Path, bytes: u64) -> Result<Self> {
        let image = folder.with_extension("img");
        test.settings.file_system.make(&image, bytes)?;
        let this = Self::mount(test, folder, &image)?;
        fs::create_dir(this.database()).map_err(TestError::io("make the folder of a database"))?;
        Ok(this)
    }

    /// Mounts an existing one.
    pub(super) fn mount(test: &Test<'_>, folder: &Path, image: &Path) -> Result<Self> {
        let disk = Disk::mount(image, folder, test.settings.file_system)?;
        Ok(Self { disk, most: test.settings.disk / 3 })
    }

    pub(super) fn database(&self) -> PathBuf {
        self.disk.at.join(DATABASE)
    }

    pub(super) fn free(&self) -> Result<u64> {
        Ok(self.disk.free()?)
    }

    /// Whether no block is free.
    pub(super) fn is_full(&self) -> Result<bool> {
        Ok(self.free()? < BLOCK)
    }

    /// Makes two ballast files of `ballast` bytes next to a started database. The file of another
    /// program takes what exceeds the engine's space, minus `less` bytes. Returns the remaining
    /// bytes.
    pub(super) fn place_ballast(&self, ballast: u64, less: u64) -> Result<u64> {
        self.disk.sync()?;
        for name in BALLAST {
            // What does not fit shows in the remaining space.
            self.grow(name, ballast)?;
        }
        self.disk.sync()?;
        let free = self.free()?;
        let most = free.min(self.most).saturating_sub(less) / BLOCK * BLOCK;
        self.grow(OTHER, free - most)?;
        self.disk.sync()?;
        self.free()
    }

    /// Makes the file of another program take every remaining block.
    pub(super) fn top_up(&self) -> Result<()> {
        // What programs have freed is free once the file system has written that.
        self.disk.sync()?;
        let mut bytes = self.free()?.max(BLOCK);
        while bytes >= BLOCK {
            match self.grow(OTHER, bytes)? {
                true => bytes = bytes.min(self.free()?),
                false => bytes = bytes / 2 / BLOCK * BLOCK,
            }
        }
        Ok(self.disk.sync()?)
    }

    /// Extends a file by `bytes` bytes with allocated blocks. Returns whether there was room.
    fn grow(&self, name: &str, bytes: u64) -> Result<bool> {
        let failed = TestError::io("lay ballast on a disk");
        if bytes == 0 {
            return Ok(true);
        }
        let path = self.disk.at.join(name);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(&failed)?;
        let length = file.metadata().map_err(&failed)?.len();
        let [from, bytes] = [length, bytes].map(u64::cast_signed);
        match posix_fallocate(&file, from, bytes) {
            Ok(()) => Ok(true),
            Err(Errno::ENOSPC) => Ok(false),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    /// Removes one ballast file.
    pub(super) fn make_some_room(&self) -> Result<()> {
        self.remove(BALLAST[0])
    }

    /// Removes every file that does not belong to the engine.
    pub(super) fn make_room(&self) -> Result<()> {
        BALLAST.into_iter().chain([OTHER]).try_for_each(|name| self.remove(name))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let removed = match fs::remove_file(self.disk.at.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| File::open(&self.disk.at)?.sync_all()),
        };
        removed.map_err(TestError::io("remove ballast from a disk"))?;
        Ok(self.disk.sync()?)
    }

    /// Copies its image file in the current state.
    pub(super) fn copy(&self, to: &Path) -> Result<()> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)
                .map_err(TestError::io("make a folder for the copy of a disk"))?;
        }
        Ok(self.disk.copy(to)?)
    }

    pub(super) fn unmount(self) -> Result<()> {
        Ok(self.disk.unmount()?)
    }
}
