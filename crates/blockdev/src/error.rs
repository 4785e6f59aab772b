//! Why a device cannot be made, and the programs that make one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A device could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// A file or directory.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A program is not installed.
    #[error("{program} is not here: apt install {package}")]
    Missing {
        /// The program.
        program: String,
        /// Its Debian package.
        package: &'static str,
    },
    /// The kernel does not support a file system.
    #[error("this kernel has no {name}: neither /proc/filesystems nor modprobe knows it")]
    NotInKernel {
        /// Name of the file system.
        name: &'static str,
    },
    /// A program failed.
    #[error("{program} failed: {says}")]
    Failed {
        /// The program.
        program: String,
        /// Its output.
        says: String,
    },
    /// The kernel does not mount the content of the device: its file system is broken.
    #[error("what the device holds is not mounted: {says}")]
    NotMounted {
        /// Output of `mount`.
        says: String,
    },
    /// The system does not allow this process its own mounts.
    #[error("the system gives no mounts of one's own ({0}): run as root")]
    NoMounts(nix::Error),
}

impl DeviceError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source }
    }
}

/// Runs a program to its end.
pub(crate) fn call(command: &mut Command, package: &'static str) -> Result<(), DeviceError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = match output {
        Ok(output) => output,
        Err(_) => return Err(DeviceError::Missing { program, package }),
    };
    match output.status.success() {
        true => Ok(()),
        false => {
            let says = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(DeviceError::Failed { program, says })
        }
    }
}
