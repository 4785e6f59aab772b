//! Errors of a whole fleet, not of one device.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a fleet could not be made, run or read. A failure on a device is its [`crate::Outcome`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// A folder for a new fleet is not empty.
    #[error("{} exists and is not empty: name another folder, or edit the fleet in it", .0.display())]
    Taken(PathBuf),
    /// A folder for a new fleet cannot be created.
    #[error("cannot create {folder}: {why}; name another folder", folder = .0.display(), why = .1)]
    Uncreatable(PathBuf, io::Error),
    /// A folder is not a fleet.
    #[error("{folder} is not a fleet, because it has no {what}: `embermark fleet init` makes a fleet", folder = .0.display(), what = .1)]
    NoFleet(PathBuf, &'static str),
    /// There is nothing to install.
    #[error(
        "{} has no package: copy embermark-VERSION-linux-ARCHITECTURE.tar.zst there for each architecture of the devices; \
         `make dist` makes them", .0.display()
    )]
    NoPackages(PathBuf),
    /// A package that cannot be unpacked.
    #[error("{file} is not a package: {why}", file = .0.display(), why = .1)]
    Package(PathBuf, io::Error),
    /// Ansible is not installed.
    #[error("Ansible is needed, and {0} is not in PATH: pipx install ansible-core")]
    NoAnsible(&'static str),
    /// Ansible itself failed.
    #[error("Ansible failed: {0}")]
    Ansible(String),
    /// A device for a client machine is not available.
    #[error(
        "every device must be a client machine, and these are not available: {0}; leave devices out with --limit"
    )]
    Clients(String),
    /// The inventory or the limit selects no device.
    #[error("{0}")]
    NoDevices(String),
    /// Another `embermark fleet run` is active.
    #[error("another `embermark fleet run` is active in {}", .0.display())]
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
