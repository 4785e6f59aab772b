//! The directory a server lives in.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Account, log};
use crate::{EngineError, Result};

/// A server's directory, its log beside it. Both lie in the directory of the database, which the
/// caller removes.
///
/// A server that runs as another user could not enter a directory below, say, `/root`; and a Unix
/// socket's path may have 107 bytes at most, while a temporary directory's is often longer. So the
/// directory is opened once and inherited by the server, and both sides reach it as
/// `/proc/self/fd/N`: short, and no permission of a parent directory is asked. (It works because
/// the number is the same in both processes.)
#[derive(Clone)]
pub(crate) struct Home {
    dir: PathBuf,
    pub(super) log: PathBuf,
    pub(super) handle: Arc<File>,
    pub(super) account: Account,
}

impl Home {
    /// Creates the directory below `options`, owned by `account` and closed to others.
    pub fn create(engine: &'static str, options: &Path, account: Account) -> Result<Self> {
        let (dir, log) = (options.join("server"), options.join("server.log"));
        let create = || {
            DirBuilder::new().mode(0o700).create(&dir)?;
            account.own(&dir)?;
            File::open(&dir)
        };
        let handle = Arc::new(create().map_err(|e| could_not(engine, &dir, e))?);
        Ok(Self { dir, log, handle, account })
    }

    /// Creates a directory in it, and gives its path as [`path`](Self::path) does.
    pub fn subdirectory(&self, engine: &'static str, name: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        let create = || {
            DirBuilder::new().mode(0o700).create(&path)?;
            self.account.own(&path)
        };
        create().map_err(|e| could_not(engine, &self.dir.join(name), e))?;
        Ok(path)
    }

    /// Writes a file in it that the server's account alone may read: its path, as
    /// [`path`](Self::path) gives it.
    pub fn write(&self, engine: &'static str, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(text.as_bytes())?;
            self.account.own(&path)
        };
        write().map_err(|error| EngineError::file(engine, "write", self.dir.join(name), error))?;
        Ok(path)
    }

    /// Where this process and the server's reach it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// Where another process of the same user reaches it, as long as this one lives. Short, too.
    pub fn path_elsewhere(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.handle.as_raw_fd()))
    }

    /// The log, opened by us, so that the server needs no permission to write it.
    pub(super) fn log(&self, engine: &'static str) -> Result<File> {
        let open = OpenOptions::new().create(true).append(true).open(&self.log);
        open.map_err(|e| EngineError::file(engine, "open", &self.log, e))
    }

    /// The last lines of the log, each on a line of its own and indented, with the path that a
    /// person knows.
    pub(super) fn last_log_lines(&self) -> String {
        let (known, real) = (self.path(), self.dir.to_string_lossy());
        log::last_lines(&self.log).replace(&*known.to_string_lossy(), &real)
    }
}

fn could_not(engine: &'static str, path: &Path, error: io::Error) -> EngineError {
    EngineError::file(engine, "create", path, error)
}
