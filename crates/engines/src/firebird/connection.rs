//! A connection to the open database.

mod statements;
mod transactions;

use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::rc::{Rc, Weak};
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use super::api::{self, INFO_ENDS, LOCK_PREFIX};
use super::config::{DatabaseConfig, OpenMode};
use super::failure::{Failure, STILL_OPEN};
use super::library::FbLib;
use super::{NAME, failed};
use crate::{EngineError, Result};

/// A connection. Statements hold a reference to it, so it outlives them.
pub(super) struct Connection {
    library: &'static FbLib,
    /// Passed to calls.
    pub status: api::Status,
    /// `None` once it was closed.
    attachment: Cell<Option<api::Attachment>>,
    /// The open transaction, if there is one.
    begun: Cell<Option<api::Transaction>>,
    /// Transactions of statements outside of it, once there was one.
    reading: Cell<Option<api::Transaction>>,
    changing: Cell<Option<api::Transaction>>,
    prepared: RefCell<Vec<Weak<StatementHandle>>>,
}

/// How long a file may stay locked after it was closed.
const PATIENCE: Duration = Duration::from_secs(2);

impl Connection {
    /// Connects to a database. Creates a missing one if `mode` is new.
    pub fn open(config: &DatabaseConfig, mode: OpenMode) -> Result<Rc<Self>> {
        let library = config.library;
        let doing = || format!("open {}", config.file().display());
        let could_not = |why: &str| EngineError::failed(NAME, doing(), why);
        let status = library.status().ok_or_else(|| could_not("its library returned no status"))?;
        let connection = Rc::new(Self {
            library,
            status,
            attachment: Cell::new(None),
            begun: Cell::new(None),
            reading: Cell::new(None),
            changing: Cell::new(None),
            prepared: RefCell::default(),
        });
        connection.attach(config, mode).map_err(|e| failed(doing(), &e))?;
        Ok(connection)
    }

    /// Connects, unless it is connected. The file is locked as long as any process has it open. A
    /// process that was just started has everything open that this one had, until it executes
    /// another program, so this waits for it.
    pub fn attach(&self, config: &DatabaseConfig, mode: OpenMode) -> FbResult<()> {
        let began = Instant::now();
        loop {
            match self.try_attach(config, mode) {
                Err(failure) if failure.is_of(&STILL_OPEN) && began.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(1));
                }
                done => return done,
            }
        }
    }

    fn try_attach(&self, config: &DatabaseConfig, mode: OpenMode) -> FbResult<()> {
        let text = |path: &std::path::Path| {
            CString::new(path.as_os_str().as_bytes()).map_err(|e| Failure::new(&e.to_string()))
        };
        let (file, folder) = (text(&config.file())?, text(&config.options.dir)?);
        let parameters = config.parameters(mode);
        let (bytes, parameters) = (parameters.len() as _, parameters.as_ptr());
        let (provider, status, name) = (self.library.provider, self.status, file.as_ptr());
        let held = self.library.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the texts are terminated and the parameters have the given length; the lock
        // prevents that another database, with another folder, is opened at the same time.
        let open = || unsafe {
            (self.library.api.gds__get_prefix)(LOCK_PREFIX, folder.as_ptr());
            match mode {
                OpenMode::New => provider.create_database(status, name, bytes, parameters),
                _ => provider.attach_database(status, name, bytes, parameters),
            }
        };
        let attachment = match &self.library.utf8 {
            Some(locale) => locale.during(open),
            None => open(),
        };
        drop(held);
        self.attachment.set(Some(self.check_object(attachment)?));
        Ok(())
    }

    /// Ends its transactions, releases its statements, and then closes the database.
    pub fn detach(&self) -> FbResult<()> {
        self.release_statements();
        let ended = self.end_statement_transactions();
        if let Some(begun) = self.begun.take() {
            self.end(begun, api::Transaction::rollback)?;
        }
        let Some(attachment) = self.attachment.take() else { return ended };
        // SAFETY: the attachment is alive, and nothing of it is used again.
        unsafe { self.close(attachment, api::Attachment::detach, api::Attachment::release) }
    }

    /// Ends an object by `close`. What could not be ended is still ours, and is released.
    ///
    /// # Safety
    /// The object must be alive, and must not be used again.
    #[inline]
    pub unsafe fn close<T: Copy>(
        &self,
        object: T,
        close: unsafe fn(T, api::Status),
        release: unsafe fn(T) -> i32,
    ) -> FbResult<()> {
        // SAFETY: as the caller promises.
        unsafe {
            close(object, self.status);
            self.check_status(()).inspect_err(|_| _ = release(object))
        }
    }

    pub fn attachment(&self) -> FbResult<api::Attachment> {
        self.attachment.get().ok_or_else(|| Failure::new("the database was closed"))
    }

    /// Returns the value that a call returned, or the call's error.
    #[inline]
    pub fn check_status<T>(&self, value: T) -> FbResult<T> {
        // SAFETY: the status is alive.
        let state = unsafe { self.status.state() };
        if state & api::STATE_ERRORS == 0 { Ok(value) } else { Err(self.failure()) }
    }

    /// Returns the object that a call returned, or the call's error.
    #[inline]
    pub fn check_object<T>(&self, object: Option<T>) -> FbResult<T> {
        self.check_status(object)?
            .ok_or_else(|| Failure::new("it returned neither an object nor an error"))
    }

    #[cold]
    fn failure(&self) -> Failure {
        // SAFETY: the status is alive, and reports that a call failed.
        unsafe {
            let failure = Failure::read(self.status, self.library.util);
            self.status.init();
            failure
        }
    }

    /// Reads information items from the database, a number for each.
    pub fn numbers(&self, items: &[u8]) -> FbResult<Vec<(u8, i64)>> {
        let mut room = [0u8; 1024];
        let attachment = self.attachment()?;
        // SAFETY: the attachment is alive, and items and room have the given lengths.
        unsafe {
            let (count, bytes) = (items.len() as _, room.len() as _);
            attachment.get_info(self.status, count, items.as_ptr(), bytes, room.as_mut_ptr());
        }
        self.check_status(()).map(|()| numbers(&room))
    }
}

/// Decodes items with their values: a byte, a length of two bytes, and a little-endian number.
fn numbers(mut room: &[u8]) -> Vec<(u8, i64)> {
    let mut found = Vec::new();
    while let [item, low, high, rest @ ..] = room {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        if INFO_ENDS.contains(item) || rest.len() < length {
            break;
        }
        let (value, rest) = rest.split_at(length);
        let number = value.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte));
        found.push((*item, number));
        room = rest;
    }
    found
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Without `close` an earlier error was already reported. No caller can receive this one.
        let _ = self.detach();
        // SAFETY: it is not used again.
        unsafe { self.status.dispose() };
    }
}

/// A prepared statement. Its connection can release it at any time, so that what it uses can be
/// dropped.
pub(super) struct StatementHandle(Cell<Option<api::Statement>>);

impl StatementHandle {
    /// Returns the statement. `None` once it was released.
    #[inline]
    pub fn get(&self) -> Option<api::Statement> {
        self.0.get()
    }

    pub fn release(&self, connection: &Connection) {
        if let Some(statement) = self.0.take() {
            connection.free(statement);
        }
    }
}

/// A blob, a cursor or a batch of a connection, closed when dropped.
pub(super) struct Open<'a, T: Copy> {
    pub object: T,
    connection: &'a Connection,
    close: unsafe fn(T, api::Status),
    release: unsafe fn(T) -> i32,
}

impl<'a, T: Copy> Open<'a, T> {
    /// Takes over an object. It is inlined with what ends it, so that the functions are called
    /// directly.
    ///
    /// # Safety
    /// The object must be alive, and must not be used without this. The functions are those that
    /// close it and release it.
    #[inline]
    pub unsafe fn new(
        connection: &'a Connection,
        object: T,
        close: unsafe fn(T, api::Status),
        release: unsafe fn(T) -> i32,
    ) -> Self {
        Self { object, connection, close, release }
    }

    /// Closes it. What could not be closed is released.
    #[inline]
    pub fn close(self) -> FbResult<()> {
        let closed = self.end();
        mem::forget(self);
        closed
    }

    #[inline]
    fn end(&self) -> FbResult<()> {
        // SAFETY: as promised to `new`, and the object is not used again.
        unsafe { self.connection.close(self.object, self.close, self.release) }
    }
}

impl<T: Copy> Drop for Open<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // The earlier error is the one to report.
        let _ = self.end();
    }
}

/// A result with Firebird's error.
pub(super) type FbResult<T> = std::result::Result<T, Failure>;

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::path::Path;

    use embermark_model::Durability;

    use super::*;
    use crate::firebird::{ENGINE, FILE};
    use crate::{Engine, OpenOptions, Store};

    /// Opens the database in a folder and closes it.
    fn opened(dir: &Path) -> Result<()> {
        let options = OpenOptions::new(dir, Durability::Process, 16 << 20);
        let Store::Sql(store) = ENGINE.open(&options)?.store else { panic!("not an SQL store") };
        store.close()
    }

    #[test]
    fn a_folder_of_any_letters_is_opened_and_one_that_it_cannot_be_told_is_unsupported() {
        if !embermark_skips::is_here(&ENGINE) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &OsStr| {
            let folder = dir.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        for name in ["plain", "jörg", "データ"] {
            let folder = made(OsStr::new(name));
            // Made, then opened again.
            opened(&folder).unwrap();
            opened(&folder).unwrap();
            assert!(folder.join(FILE).is_file(), "{name}");
        }
        let others: [(&[u8], &str); 3] =
            [(b"two words", "a blank"), (b"a:b", "a colon"), (b"j\xf6rg", "not UTF-8")];
        for (name, fault) in others {
            let error = opened(&made(OsStr::from_bytes(name))).unwrap_err();
            assert!(error.is_unsupported() && error.to_string().contains(fault), "{error}");
        }
    }

    #[test]
    fn opening_waits_for_a_lock_and_reports_one_that_stays() {
        if !embermark_skips::is_here(&ENGINE) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        opened(dir.path()).unwrap();
        let lock = File::open(dir.path().join(FILE)).unwrap();
        lock.lock().unwrap();
        let error = opened(dir.path()).unwrap_err().to_string();
        assert!(error.contains("already opened") && error.contains(FILE), "{error}");
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(100));
                lock.unlock().unwrap();
            });
            opened(dir.path()).unwrap();
        });
    }
}
