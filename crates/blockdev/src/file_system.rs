//! Makes and mounts file systems on a device.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::error::{DeviceError, Result, call};

/// A file system that can be made on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileSystem {
    /// ext4, with its journal in ordered mode, as distributions have it.
    #[default]
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS, designed for flash.
    F2fs,
}

impl FileSystem {
    /// All file systems.
    pub const ALL: [Self; 4] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::F2fs];

    /// Returns the name for `mount`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::F2fs => "f2fs",
        }
    }

    /// Returns the program that makes a file system, its arguments, and its package. With these
    /// arguments, nothing is left for the kernel to do later.
    const fn mkfs_command(self) -> (&'static str, &'static [&'static str], &'static str) {
        match self {
            Self::Ext4 => (
                "mkfs.ext4",
                // Nothing is reserved for root, so that the disk is as full for this process as for
                // a server's user. Blocks have the size of those of a large file system.
                &["-qF", "-N4096", "-m0", "-b4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
                "e2fsprogs",
            ),
            Self::Xfs => ("mkfs.xfs", &["-q", "-f"], "xfsprogs"),
            Self::Btrfs => ("mkfs.btrfs", &["-q", "-f"], "btrfs-progs"),
            Self::F2fs => ("mkfs.f2fs", &["-q", "-f"], "f2fs-tools"),
        }
    }

    /// Returns the options to mount the file system from a file.
    const fn mount_options(self) -> &'static str {
        match self {
            // Several states of one file system are mounted at once (xfs(5)).
            Self::Xfs => "loop,nouuid",
            Self::Ext4 | Self::Btrfs | Self::F2fs => "loop",
        }
    }

    /// Checks that the kernel supports the file system and its program is installed.
    ///
    /// # Errors
    /// If something is missing. The error names it, and how to install it.
    pub fn check_available(self) -> Result<()> {
        if !self.kernel_supports() {
            // Loads the module if possible. If not, the check below shows it.
            let _ = Command::new("modprobe").args(["-q", self.name()]).output();
            if !self.kernel_supports() {
                return Err(DeviceError::NotInKernel { name: self.name() });
            }
        }
        let (program, _, package) = self.mkfs_command();
        call(Command::new(program).arg("-V"), package)
    }

    /// Whether the file system is built in or loaded, according to `/proc/filesystems` (proc(5)).
    fn kernel_supports(self) -> bool {
        let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        known.lines().any(|line| line.trim() == self.name())
    }

    /// Mounts the file system in a file.
    pub(crate) fn mount(self, file: &Path, at: &Path) -> Result<()> {
        self.mount_with(self.mount_options(), file, at)
    }

    /// Mounts the file system on a block device.
    pub(crate) fn mount_device(self, device: &Path, at: &Path) -> Result<()> {
        self.mount_with("rw", device, at)
    }

    fn mount_with(self, options: &str, file: &Path, at: &Path) -> Result<()> {
        let options = ["-t", self.name(), "-o", options];
        let mounted = call(Command::new("mount").args(options).args([file, at]), "mount");
        mounted.map_err(|error| match error {
            DeviceError::Failed { output, .. } => DeviceError::NotMounted { output },
            error => error,
        })
    }

    /// Makes an empty file system in a new file of `bytes` bytes. Each file system has a minimum
    /// size.
    ///
    /// # Errors
    /// If the file cannot be made, the kernel does not support the file system, or the program is
    /// missing or fails.
    pub fn make(self, file: &Path, bytes: u64) -> Result<()> {
        self.check_available()?;
        let made = File::create(file).and_then(|made| made.set_len(bytes));
        made.map_err(DeviceError::io("make", file))?;
        let (program, args, package) = self.mkfs_command();
        call(Command::new(program).args(args).arg(file), package)
    }
}
