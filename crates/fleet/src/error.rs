//! Errors of a whole fleet, not of one device.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a fleet could not be made, run or read. A failure on a device is its [`crate::Outcome`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A directory for a new fleet is not empty.
    #[error("{} is there already and not empty: name another folder, or edit the fleet that is there", .0.display())]
    Taken(PathBuf),
    /// A directory is not a fleet.
    #[error("{folder} is no fleet, it has no {what}: `embermark fleet init` makes one", folder = .0.display(), what = .1)]
    NoFleet(PathBuf, &'static str),
    /// There is nothing to install.
    #[error(
        "{} has no package: copy embermark-VERSION-linux-ARCHITECTURE.tar.zst there for each architecture of the devices; \
         `make dist` makes them", .0.display()
    )]
    NoPackages(PathBuf),
    /// A package that cannot be unpacked.
    #[error("{file} is no package: {why}", file = .0.display(), why = .1)]
    Package(PathBuf, io::Error),
    /// Ansible is not installed.
    #[error("Ansible is needed for that, and there is no {0} in PATH: pipx install ansible-core")]
    NoAnsible(&'static str),
    /// Ansible itself failed.
    #[error("Ansible failed: {0}")]
    Ansible(String),
    /// A device for a client machine is not available.
    #[error(
        "every device is a client machine, and these cannot be had: {0}; --limit leaves devices out"
    )]
    Clients(String),
    /// There is no device.
    #[error("{0}")]
    NoDevices(String),
    /// Another `embermark fleet run` is active.
    #[error("another `embermark fleet run` is at work in {}", .0.display())]
    Busy(PathBuf),
    /// A file that could not be read or written.
    #[error("{file}: {why}", file = .0.display(), why = .1)]
    File(PathBuf, io::Error),
}

impl FleetError {
    /// Whether the request makes no sense: exit status 2.
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::Ansible(_) | Self::Clients(_) | Self::File(..))
    }
}

/// Makes an error with the file that it concerns.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> FleetError {
    |error| FleetError::File(path.to_owned(), error)
}
