//! The account a server runs under.

use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{User, geteuid};

/// Who a server runs as: our own user, or another one when we are root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    /// Our own user, root or not.
    pub const fn ourselves() -> Self {
        Self { other: None }
    }

    /// For a server that refuses to run as root: `user` when we are root, else ourselves.
    pub fn unprivileged(user: &str) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Ok(Self { other: None });
        }
        match User::from_name(user) {
            Ok(Some(found)) => Ok(Self { other: Some((found.uid.as_raw(), found.gid.as_raw())) }),
            _ => Err(format!("it refuses to run as root, and there is no user `{user}`")),
        }
    }

    /// Makes `command` run under it. Supplementary groups of root are dropped by the standard
    /// library together with the user id.
    pub(super) fn run(self, command: &mut Command) {
        if let Some((uid, gid)) = self.other {
            command.uid(uid).gid(gid);
        }
    }

    /// Gives it a file or directory.
    pub(super) fn own(self, path: &Path) -> io::Result<()> {
        self.other.map_or(Ok(()), |(uid, gid)| chown(path, Some(uid), Some(gid)))
    }
}
