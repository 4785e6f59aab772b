//! The file system that becomes full, and the files on it that are no engine's.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use embermark_blockdev::Disk;
use nix::errno::Errno;
use nix::fcntl::posix_fallocate;

use crate::settings::{Test, TestError};

/// The folder on it that is the database's: the root of a file system may hold its own.
const DATABASE: &str = "database";
/// The files whose removal makes room: the first alone, then all.
const BALLAST: [&str; 2] = ["ballast-1", "ballast-2"];
/// The file of another program, as it were: it has what is not to be the engine's.
const OTHER: &str = "other";
/// The blocks of every file system that can be asked for.
pub(super) const BLOCK: u64 = 4096;

/// The file system.
pub(super) struct Space {
    disk: Disk,
    /// The most that an engine has for its work.
    most: u64,
}

impl Space {
    /// Makes one of so many bytes below a folder.
    pub(super) fn make(test: &Test<'_>, folder: &Path, bytes: u64) -> Result<Self, TestError> {
        let image = folder.with_extension("img");
        test.settings.file_system.make(&image, bytes)?;
        let this = Self::of(test, folder, &image)?;
        fs::create_dir(this.database()).map_err(TestError::io("make the folder of a database"))?;
        Ok(this)
    }

    /// Mounts one that is there.
    pub(super) fn of(test: &Test<'_>, folder: &Path, image: &Path) -> Result<Self, TestError> {
        let disk = Disk::mount(image, folder, test.settings.file_system)?;
        Ok(Self { disk, most: test.settings.disk / 3 })
    }

    pub(super) fn database(&self) -> PathBuf {
        self.disk.at.join(DATABASE)
    }

    pub(super) fn free(&self) -> Result<u64, TestError> {
        Ok(self.disk.free()?)
    }

    /// Whether not a block is free.
    pub(super) fn is_full(&self) -> Result<bool, TestError> {
        Ok(self.free()? < BLOCK)
    }

    /// Lays two files of so much ballast beside a database that has started, and has the file of another
    /// program take what is more than an engine is to have, less so many bytes. Returns what is left.
    pub(super) fn lay(&self, ballast: u64, less: u64) -> Result<u64, TestError> {
        self.disk.sync()?;
        for name in BALLAST {
            // What does not fit is seen by what is left.
            self.grow(name, ballast)?;
        }
        self.disk.sync()?;
        let free = self.free()?;
        let most = free.min(self.most).saturating_sub(less) / BLOCK * BLOCK;
        self.grow(OTHER, free - most)?;
        self.disk.sync()?;
        self.free()
    }

    /// Has the file of another program take every block that is left.
    pub(super) fn top_up(&self) -> Result<(), TestError> {
        // What programs have removed is free when the file system has written that.
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

    /// Makes a file so many bytes longer, whose blocks are then taken; whether there was room.
    fn grow(&self, name: &str, bytes: u64) -> Result<bool, TestError> {
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

    /// Removes one file of ballast.
    pub(super) fn make_some_room(&self) -> Result<(), TestError> {
        self.remove(BALLAST[0])
    }

    /// Removes every file that is no engine's.
    pub(super) fn make_room(&self) -> Result<(), TestError> {
        BALLAST.into_iter().chain([OTHER]).try_for_each(|name| self.remove(name))
    }

    fn remove(&self, name: &str) -> Result<(), TestError> {
        let removed = match fs::remove_file(self.disk.at.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| File::open(&self.disk.at)?.sync_all()),
        };
        removed.map_err(TestError::io("remove ballast from a disk"))?;
        Ok(self.disk.sync()?)
    }

    /// Copies the file it is in, as it is now.
    pub(super) fn copy(&self, to: &Path) -> Result<(), TestError> {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)
                .map_err(TestError::io("make a folder for the copy of a disk"))?;
        }
        Ok(self.disk.copy(to)?)
    }

    pub(super) fn unmount(self) -> Result<(), TestError> {
        Ok(self.disk.unmount()?)
    }
}
