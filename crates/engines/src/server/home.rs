//! The directory a server lives in.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_model::Durability;
use nix::unistd::syncfs;

use super::{Account, log};
use crate::{EngineError, Result};

/// How long the last process of an earlier server may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// A server's directory, its log beside it. Both lie in the directory of the database, which the
/// caller removes. What is there of an earlier server is the database, and is used: it may have
/// been copied there.
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
    /// Where this server's part of the log begins.
    log_from: u64,
    pub(super) handle: Arc<File>,
    pub(super) account: Account,
}

impl Home {
    /// Opens the directory below `options`, made where it is not there, owned by `account` and
    /// closed to others.
    ///
    /// It is locked until the last process has ended that has it open, the server's own among them.
    /// So what a file in it says of a process that runs is of one that was killed.
    ///
    /// # Errors
    /// When it cannot be made, or a server runs in it.
    pub fn open(engine: &'static str, options: &Path, account: Account) -> Result<Self> {
        let (dir, log) = (options.join("server"), options.join("server.log"));
        let create = || {
            DirBuilder::new().mode(0o700).recursive(true).create(&dir)?;
            account.own(&dir)?;
            File::open(&dir)
        };
        let handle = Arc::new(create().map_err(|e| could_not(engine, &dir, e))?);
        lock(&handle).map_err(|e| EngineError::file(engine, "lock", &dir, e))?;
        let log_from = log.metadata().map_or(0, |log| log.len());
        Ok(Self { dir, log, log_from, handle, account })
    }

    /// The directory `name` in it, which `make` fills where it is not there. It has another name
    /// until it is whole, and for the tier `power` is on the disk by then; one that was not
    /// finished is removed.
    pub fn made(
        &self,
        engine: &'static str,
        name: &str,
        durability: Durability,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let path = self.path().join(name);
        if path.exists() {
            return Ok(path);
        }
        let unfinished = self.emptied(engine, &format!("{name}.unfinished"))?;
        make(&unfinished)?;
        let finish = || {
            let synced = durability == Durability::Power;
            if synced {
                syncfs(&*self.handle)?;
            }
            fs::rename(&unfinished, &path)?;
            match self.dir.parent().filter(|_| synced) {
                Some(parent) => {
                    self.handle.sync_all().and_then(|()| File::open(parent)?.sync_all())
                }
                None => Ok(()),
            }
        };
        finish().map_err(|error| could_not(engine, &self.dir.join(name), error))?;
        Ok(path)
    }

    /// The directory `name` in it, made where it is not there, as [`path`](Self::path) has it.
    pub fn subdirectory(&self, engine: &'static str, name: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        let create = || {
            DirBuilder::new().mode(0o700).recursive(true).create(&path)?;
            self.account.own(&path)
        };
        create().map_err(|e| could_not(engine, &self.dir.join(name), e))?;
        Ok(path)
    }

    /// The same, with nothing in it.
    pub fn emptied(&self, engine: &'static str, name: &str) -> Result<PathBuf> {
        absent(fs::remove_dir_all(self.path().join(name)))
            .map_err(|e| EngineError::file(engine, "remove", self.dir.join(name), e))?;
        self.subdirectory(engine, name)
    }

    /// Removes a file in it, such as the one by which a server that was killed says that it runs.
    pub fn remove(&self, engine: &'static str, name: &str) -> Result<()> {
        absent(fs::remove_file(self.path().join(name)))
            .map_err(|e| EngineError::file(engine, "remove", self.dir.join(name), e))
    }

    /// Writes a file in it that the server's account alone may read, in place of one that is there:
    /// its path, as [`path`](Self::path) gives it.
    pub fn write(&self, engine: &'static str, name: &str, text: &str) -> Result<PathBuf> {
        self.remove(engine, name)?;
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

    /// What a file in it says; nothing where there is none.
    pub fn read(&self, engine: &'static str, name: &str) -> Result<Option<String>> {
        match fs::read_to_string(self.path().join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read
                .map(Some)
                .map_err(|error| EngineError::file(engine, "read", self.dir.join(name), error)),
        }
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

    /// The last lines of the log since it was opened, each on a line of its own and indented, with
    /// the path that a person knows.
    pub(super) fn last_log_lines(&self) -> String {
        let (known, real) = (self.path(), self.dir.to_string_lossy());
        log::last_lines(&self.log, self.log_from).replace(&*known.to_string_lossy(), &real)
    }
}

/// Locks a directory. A child of this process that is being started has it open, too, for a moment;
/// so may a server whose owner was killed.
fn lock(directory: &File) -> io::Result<()> {
    let until = Instant::now() + ENDS_WITHIN;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() > until => {
                return Err(io::Error::other("a server runs in it; end that first"));
            }
            Err(TryLockError::WouldBlock) => sleep(super::LOOK_EVERY),
        }
    }
}

/// That nothing was there to remove is no error.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn could_not(engine: &'static str, path: &Path, error: io::Error) -> EngineError {
    EngineError::file(engine, "create", path, error)
}
