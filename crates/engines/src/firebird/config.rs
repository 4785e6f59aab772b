//! Options that a database is opened with.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::api::open;
use super::library::FbLib;
use super::tier::tiers;
use super::{FILE, NAME};
use crate::{EngineError, OpenOptions, Result};

/// Default bytes of a page
/// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-db-create>).
pub(super) const PAGE_SIZE: u64 = 8192;

/// Number of transactions after which Firebird sweeps by itself. 0 is never. A sweep skips pages
/// that are marked as swept. After a crash such a page can have rows of a transaction that the
/// crash interrupted. The sweep then treats every older transaction as committed, and these rows
/// exist again (<https://github.com/FirebirdSQL/firebird/pull/7412>; seen with 5.0.4,
/// docs/durability.md).
const SWEEP_INTERVAL: u64 = 0;

/// Whether a database is created, is used, or is only validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenMode {
    New,
    Existing,
    Validated,
}

/// The library and the options that a database is opened with.
#[derive(Clone)]
pub(super) struct DatabaseConfig {
    pub library: &'static FbLib,
    pub options: OpenOptions,
}

impl DatabaseConfig {
    /// Creates the configuration.
    ///
    /// # Errors
    /// Unsupported if Firebird cannot be told the folder's path. The function that sets the folder
    /// of lock files ends a path at a blank or a line break. What precedes a colon is the name of
    /// a server, and a name is converted from UTF-8 (`gds__get_prefix`, `ISC_analyze_tcp`,
    /// `ISC_utf8ToSystem`,
    /// <https://github.com/FirebirdSQL/firebird/blob/v5.0.4/src/common/isc_file.cpp>).
    pub fn new(library: &'static FbLib, options: &OpenOptions) -> Result<Self> {
        let fault = match options.dir.to_str() {
            None => "is not UTF-8",
            Some(path) if path.contains([' ', '\n', '\r']) => "has a blank",
            Some(path) if path.contains(':') => "has a colon",
            Some(path) if !path.is_ascii() && library.utf8.is_none() => {
                "has letters beyond ASCII, where the locale C.UTF-8 is missing"
            }
            Some(_) => return Ok(Self { library, options: options.clone() }),
        };
        let path = options.dir.display();
        let what = format!("a folder whose path {fault} ({path}): choose another folder");
        Err(EngineError::unsupported(NAME, what))
    }

    pub fn file(&self) -> PathBuf {
        self.options.dir.join(FILE)
    }

    /// Returns whether every page is synced when it is written.
    fn forces_writes(&self) -> bool {
        let of_tier = tiers().for_tier(self.options.durability).set;
        self.options.switch("forced_writes").unwrap_or(of_tier)
    }

    /// Syncs a new database and its name in the folder, if writes are forced. Firebird writes the
    /// first pages of a database before it reopens the file for forced writes, and leaves them to
    /// the operating system (`PIO_create`, `PIO_force_write`,
    /// <https://github.com/FirebirdSQL/firebird/blob/v5.0.4/src/jrd/os/posix/unix.cpp>; seen with
    /// strace). After a power cut shortly after the first commits it could not be opened.
    pub fn sync_new_files(&self) -> Result<()> {
        if !self.forces_writes() {
            return Ok(());
        }
        let sync = |path: &Path| {
            let synced = File::open(path).and_then(|file| file.sync_all());
            synced.map_err(|error| EngineError::file(NAME, "sync", path, error))
        };
        sync(&self.file())?;
        sync(&self.options.dir)
    }

    /// Returns the parameters for opening it.
    pub fn parameters(&self, mode: OpenMode) -> Vec<u8> {
        let mut all = vec![open::VERSION];
        let mut add = |item: u8, value: &[u8]| {
            all.push(item);
            all.extend((value.len() as u32).to_le_bytes());
            all.extend_from_slice(value);
        };
        // Together with the locale that it is opened in.
        add(open::UTF8_FILE_NAME, &[]);
        add(open::USER_NAME, b"SYSDBA");
        // Texts are not converted.
        add(open::CHARACTER_SET, b"NONE");
        // The engine in this process, and not a server that it would otherwise look for.
        add(open::CONFIG, b"Providers=Engine13");
        add(open::FORCE_WRITE, &[self.forces_writes().into()]);
        let number = |name: &str| self.options.setting(name).and_then(|given| given.parse().ok());
        let page_size: u64 = number("page_size").unwrap_or(PAGE_SIZE);
        let buffers = number("page_buffers").unwrap_or(self.options.memory / page_size.max(1));
        let buffers = u32::try_from(buffers).unwrap_or(u32::MAX);
        add(open::PAGE_BUFFERS, &buffers.to_le_bytes());
        let interval = number("sweep_interval").unwrap_or(SWEEP_INTERVAL);
        add(open::SWEEP_INTERVAL, &(interval as u32).to_le_bytes());
        match mode {
            OpenMode::New => {
                add(open::PAGE_SIZE, &(page_size as u32).to_le_bytes());
                add(open::SQL_DIALECT, &[3]);
                add(open::DATABASE_CHARACTER_SET, super::dialect::CHARACTER_SET.as_bytes());
            }
            OpenMode::Existing => {}
            OpenMode::Validated => add(open::VERIFY, &[open::VERIFY_ALL]),
        }
        all
    }
}
