//! The account a server runs under.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use nix::unistd::{Uid, User, geteuid};

/// User of a server: our own user, or another one if that is root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    other: Option<(u32, u32)>,
}

impl Account {
    /// Returns our own user, root or not.
    pub const fn ourselves() -> Self {
        Self { other: None }
    }

    /// Returns the user for a server that refuses to run as root: our own user, or if that is root
    /// the program's owner, so that it can be executed. For root's programs it is the first
    /// existing one of `users`.
    pub fn unprivileged(program: &Path, users: &[&str]) -> Result<Self, String> {
        if !geteuid().is_root() {
            return Ok(Self { other: None });
        }
        let owner = fs::metadata(program).map_err(|error| error.to_string())?.uid();
        let owner = (owner != 0).then(|| User::from_uid(Uid::from_raw(owner)).ok()?).flatten();
        let named = || users.iter().find_map(|user| User::from_name(user).ok()?);
        match owner.or_else(named) {
            Some(found) => Ok(Self { other: Some((found.uid.as_raw(), found.gid.as_raw())) }),
            None => Err(format!(
                "it refuses to run as root, and none of these users exists: {}",
                users.join(", ")
            )),
        }
    }

    /// Returns the user's id.
    pub fn uid(self) -> u32 {
        self.other.map_or_else(|| geteuid().as_raw(), |(uid, _)| uid)
    }

    /// Makes `command` run as this user. The standard library drops root's supplementary groups
    /// together with the user id.
    pub(crate) fn run(self, command: &mut Command) {
        if let Some((uid, gid)) = self.other {
            command.uid(uid).gid(gid);
        }
    }

    /// Makes the user own a file or folder.
    pub(super) fn chown(self, path: &Path) -> io::Result<()> {
        self.other.map_or(Ok(()), |(uid, gid)| chown(path, Some(uid), Some(gid)))
    }
}
