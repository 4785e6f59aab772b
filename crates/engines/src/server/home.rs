//! The folder of a server.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use embermark_model::Durability;
use nix::unistd::syncfs;

use super::Account;
use crate::{EngineError, Result};

/// How long the last process of an earlier server may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// How much of the end of a log an error has.
const LOG_LINES: usize = 10;
const LOG_BYTES: u64 = 8 * 1024;

/// A server's folder, with its log next to it. Both are in the folder of the database, which
/// the caller removes. The files of an earlier server are the database and are used, as they can
/// have been copied there.
///
/// A server that runs as another user could not enter a folder below, say, `/root`. A Unix
/// socket's path has at most 107 bytes, and a temporary folder's is often longer. So the
/// folder is opened once and inherited by the server, and both sides reach it as
/// `/proc/self/fd/N`, which is short and needs no permission on a parent folder. (The number is
/// the same in both processes.)
#[derive(Clone)]
pub(crate) struct Home {
    /// The engine's id, for errors.
    pub(super) engine: &'static str,
    dir: PathBuf,
    pub(super) log: PathBuf,
    /// Where this server's part of the log begins.
    log_from: u64,
    pub(super) handle: Arc<File>,
    pub(super) account: Account,
}

impl Home {
    /// Opens the folder below `options`, owned by `account` and closed to others, and creates it
    /// if it is missing.
    ///
    /// It stays locked until the last process ends that has it open, including the server's. So a
    /// file in it that names a running process was left by a killed server.
    ///
    /// # Errors
    /// Fails when it cannot be created, or a server runs in it.
    pub fn open(engine: &'static str, options: &Path, account: Account) -> Result<Self> {
        let (dir, log) = (options.join("server"), options.join("server.log"));
        let handle = create(&dir, account).and_then(|()| File::open(&dir));
        let handle = handle.map_err(|e| EngineError::file(engine, "create", &dir, e))?;
        lock(&handle).map_err(|e| EngineError::file(engine, "lock", &dir, e))?;
        let log_from = log.metadata().map_or(0, |log| log.len());
        Ok(Self { engine, dir, log, log_from, handle: Arc::new(handle), account })
    }

    /// Returns the folder `name` in it, which `make` fills if it is missing. It has another name
    /// until it is complete, and in the tier `power` it is synced by then. An incomplete one is
    /// removed.
    pub fn create_once(
        &self,
        name: &str,
        durability: Durability,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let path = self.path().join(name);
        if path.exists() {
            return Ok(path);
        }
        let unfinished = self.emptied(&format!("{name}.unfinished"))?;
        make(&unfinished)?;
        let finish = || {
            if durability != Durability::Power {
                return fs::rename(&unfinished, &path);
            }
            syncfs(&*self.handle)?;
            fs::rename(&unfinished, &path)?;
            self.handle.sync_all()?;
            self.dir.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
        };
        finish().map_err(self.could_not("create", name))?;
        Ok(path)
    }

    /// Returns the path of the folder `name` in it, in the form of [`path`](Self::path), and
    /// creates it if it is missing.
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        create(&path, self.account).map_err(self.could_not("create", name))?;
        Ok(path)
    }

    /// Returns the path of the folder `name` in it, emptied.
    pub fn emptied(&self, name: &str) -> Result<PathBuf> {
        absent(fs::remove_dir_all(self.path().join(name)))
            .map_err(self.could_not("remove", name))?;
        self.subdirectory(name)
    }

    /// Removes a file in it, such as one that names a killed server as running.
    pub fn remove(&self, name: &str) -> Result<()> {
        absent(fs::remove_file(self.path().join(name))).map_err(self.could_not("remove", name))
    }

    /// Writes or replaces a file in it that only the server's account can read. Returns its path in
    /// the form of [`path`](Self::path).
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        self.remove(name)?;
        let path = self.path().join(name);
        let write = || {
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(text.as_bytes())?;
            self.account.chown(&path)
        };
        write().map_err(self.could_not("write", name))?;
        Ok(path)
    }

    /// Returns the content of a file in it, or `None` if it is missing.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        match fs::read_to_string(self.path().join(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(self.could_not("read", name)),
        }
    }

    /// Returns the error of an operation on a file or folder in it, with its real path.
    fn could_not(&self, doing: &'static str, name: &str) -> impl FnOnce(io::Error) -> EngineError {
        let (engine, path) = (self.engine, self.dir.join(name));
        move |error| EngineError::file(engine, doing, path, error)
    }

    /// Returns its path for this process and the server.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// Returns its path for another process of the same user, while this process lives. It is short
    /// too.
    pub fn path_for_others(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.handle.as_raw_fd()))
    }

    /// Opens the log in this process, so that the server needs no permission to write it.
    pub(super) fn log(&self) -> Result<File> {
        let open = OpenOptions::new().create(true).append(true).open(&self.log);
        open.map_err(|e| EngineError::file(self.engine, "open", &self.log, e))
    }

    /// Returns the last lines of the log since it was opened, each on an indented line, with the
    /// real path of its folder. `None` if there are none.
    pub(super) fn last_log_lines(&self) -> Option<String> {
        let text = match tail(&self.log, self.log_from) {
            Ok(text) => text,
            Err(error) => return Some(format!(" (unreadable: {error})")),
        };
        let text = text.replace(&*self.path().to_string_lossy(), &self.dir.to_string_lossy());
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
        (!last.is_empty()).then(|| last.iter().flat_map(|line| ["\n  ", line]).collect())
    }
}

/// Locks a folder. A child process that is being started has it open for a moment too, and so
/// can a server whose owner was killed.
fn lock(directory: &File) -> io::Result<()> {
    let until = Instant::now() + ENDS_WITHIN;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() > until => {
                return Err(io::Error::other("a server runs in it; end that first"));
            }
            Err(TryLockError::WouldBlock) => sleep(super::POLL_INTERVAL),
        }
    }
}

/// Ignores the error that there was nothing to remove.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a missing folder that is closed to others.
fn create(path: &Path, account: Account) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)?;
    account.chown(path)
}

/// Returns the end of a log, from the byte `from` on.
fn tail(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.max(length.saturating_sub(LOG_BYTES))))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
