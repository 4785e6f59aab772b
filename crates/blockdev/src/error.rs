//! Errors of devices, and calls of the programs that make them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A device could not be made or removed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// An operation on a file or folder failed.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// A program is not installed.
    #[error("{program} is not installed: apt install {package}")]
    Missing {
        /// The program.
        program: String,
        /// Its Debian package.
        package: &'static str,
    },
    /// The kernel does not support a file system.
    #[error("this kernel does not support {name}: neither /proc/filesystems nor modprobe has it")]
    NotInKernel {
        /// Name of the file system.
        name: &'static str,
    },
    /// A program failed.
    #[error("{program} failed: {output}")]
    Failed {
        /// The program.
        program: String,
        /// Its output.
        output: String,
    },
    /// The kernel does not mount the content of the device: its file system is broken.
    #[error("the content of the device cannot be mounted: {output}")]
    NotMounted {
        /// Output of `mount`.
        output: String,
    },
    /// The system does not allow this process its own mounts.
    #[error("the system does not allow this process its own mounts ({0}): run as root")]
    NoMounts(nix::Error),
}

/// Result of an operation on a device.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

impl DeviceError {
    /// Returns a conversion of errors while `doing` something with a path.
    pub(crate) fn io<E: Into<io::Error>>(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source: source.into() }
    }
}

/// Runs a program to its end.
pub(crate) fn call(command: &mut Command, package: &'static str) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = match command.stdin(Stdio::null()).stdout(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(DeviceError::Missing { program, package });
        }
        Err(error) => return Err(DeviceError::Failed { program, output: error.to_string() }),
    };
    match output.status.success() {
        true => Ok(()),
        false => {
            let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(DeviceError::Failed { program, output })
        }
    }
}
