//! Mounts a file system of a fixed size in a file, without recording.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::mount::{MntFlags, umount2};
use nix::sys::statvfs::statvfs;
use nix::unistd::syncfs;

use crate::device::unmount;
use crate::error::{DeviceError, Result, call};
use crate::file_system::FileSystem;

/// A file system in a file, mounted. Dropping it unmounts it.
#[derive(Debug)]
pub struct Disk {
    /// Mount point.
    pub at: PathBuf,
    /// File with the content.
    pub image: PathBuf,
    mounted: bool,
}

impl Disk {
    /// Mounts the content of the file, which is a file system of that kind, at the folder `at`,
    /// which it creates.
    ///
    /// # Errors
    /// If the kernel does not mount it, or no loop device is available.
    pub fn mount(image: &Path, at: &Path, file_system: FileSystem) -> Result<Self> {
        fs::create_dir_all(at).map_err(DeviceError::io("make", at))?;
        file_system.mount(image, at)?;
        Ok(Self { at: at.to_owned(), image: image.to_owned(), mounted: true })
    }

    /// Returns the number of bytes that are free for all users.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn free(&self) -> Result<u64> {
        let stat =
            statvfs(&self.at).map_err(DeviceError::io("read the free space of", &self.at))?;
        Ok(stat.blocks_available() * stat.fragment_size())
    }

    /// Writes everything to the file that programs have written or freed.
    ///
    /// # Errors
    /// If the file cannot be written, or the file system is broken.
    pub fn sync(&self) -> Result<()> {
        let synced = File::open(&self.at).and_then(|at| Ok(syncfs(&at)?));
        synced.map_err(DeviceError::io("sync", &self.at))
    }

    /// Syncs the file system, and copies its file to another, sparse one. The copy is what the file
    /// system has after a crash at this time, if nothing writes meanwhile.
    ///
    /// # Errors
    /// If the copy cannot be written.
    pub fn copy(&self, to: &Path) -> Result<()> {
        self.sync()?;
        let mut copy = Command::new("cp");
        call(copy.args(["--sparse=always", "--"]).arg(&self.image).arg(to), "coreutils")
    }

    /// Unmounts the file system.
    ///
    /// # Errors
    /// If the file system is still in use.
    pub fn unmount(mut self) -> Result<()> {
        unmount(&self.at).map_err(DeviceError::io("unmount", &self.at))?;
        self.mounted = false;
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted && unmount(&self.at).is_err() {
            // It disappears with its last user.
            let _ = umount2(&self.at, MntFlags::MNT_DETACH);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use embermark_skips::skipped;

    use super::*;
    use crate::enter_mount_namespace;

    #[test]
    fn it_is_as_large_as_asked_is_full_by_what_is_written_and_its_copy_has_that() {
        if !nix::unistd::geteuid().is_root() {
            skipped("root", "only root can mount a file system");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        thread::scope(|scope| {
            scope.spawn(|| {
                enter_mount_namespace().unwrap();
                FileSystem::Ext4.make(&path("image"), 32 << 20).unwrap();
                let disk = Disk::mount(&path("image"), &path("at"), FileSystem::Ext4).unwrap();
                let free = disk.free().unwrap();
                assert!(free > 20 << 20 && free < 32 << 20, "{free}");
                let full = fs::write(disk.at.join("file"), vec![7; 40 << 20]).unwrap_err();
                assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
                disk.sync().unwrap();
                // ext4 keeps a little for itself. By default it would reserve a twentieth for root.
                let left = disk.free().unwrap();
                assert!(left < (32 << 20) / 50, "nothing is kept for root: {left}");
                disk.copy(&path("copy")).unwrap();
                fs::remove_file(disk.at.join("file")).unwrap();
                disk.sync().unwrap();
                assert_eq!(disk.free().unwrap(), free);
                disk.unmount().unwrap();
                let copy = Disk::mount(&path("copy"), &path("at"), FileSystem::Ext4).unwrap();
                let there = fs::read(copy.at.join("file")).unwrap();
                assert!(there.len() > 20 << 20 && there.iter().all(|byte| *byte == 7));
            });
        });
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(&*path("at").to_string_lossy()));
    }
}
