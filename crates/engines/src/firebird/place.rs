//! Where a database is, and what it is opened by.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::api::open;
use super::library::FbLib;
use super::tier::TIERS;
use super::{FILE, NAME};
use crate::{EngineError, OpenOptions, Result};

/// Bytes of a page, as shipped
/// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-db-create>).
pub(super) const PAGE_SIZE: u64 = 8192;

/// Transactions after which it sweeps by itself: never. A sweep passes over pages that are marked as swept, which after
/// a crash one may be that holds rows of a transaction the crash cut off, and then takes every transaction so old for
/// committed: these rows are there again (<https://github.com/FirebirdSQL/firebird/pull/7412>; 5.0.4 was seen to do it,
/// docs/durability.md).
const SWEEP_INTERVAL: u64 = 0;

/// Whether a database is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    New,
    There,
}

/// What a database is opened by.
#[derive(Clone)]
pub(super) struct Place {
    pub library: &'static FbLib,
    pub options: OpenOptions,
}

impl Place {
    /// # Errors
    /// Unsupported where the folder's path has a blank: the function that names the folder of lock files
    /// ends a path there.
    pub fn new(library: &'static FbLib, options: &OpenOptions) -> Result<Self> {
        let path = options.dir.to_string_lossy();
        if path.contains([' ', '\n', '\r']) {
            let what = format!("a folder whose path has a blank, as {path} has: choose another");
            return Err(EngineError::unsupported(NAME, what));
        }
        Ok(Self { library, options: options.clone() })
    }

    pub fn file(&self) -> PathBuf {
        self.options.dir.join(FILE)
    }

    /// Whether a database is there.
    pub fn is_there(&self) -> Made {
        if self.file().exists() { Made::There } else { Made::New }
    }

    /// Whether every page is to be synced as it is written.
    fn forces_writes(&self) -> bool {
        let of_tier = TIERS.of(self.options.durability).set.forced_writes;
        self.options.switch("forced_writes").unwrap_or(of_tier)
    }

    /// Syncs a database that was just made, and its name in the folder, where writes are forced: it writes the
    /// pages that a database begins with before it opens the file again for forced writes, and leaves them to the
    /// operating system (`PIO_create`, `PIO_force_write`,
    /// <https://github.com/FirebirdSQL/firebird/blob/v5.0.4/src/jrd/os/posix/unix.cpp>; seen with strace). After a
    /// power cut shortly after the first commits it did not open.
    pub fn settle(&self) -> Result<()> {
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

    /// The parameters of opening it, with further ones.
    pub fn parameters(&self, made: Made, more: &[(u8, u8)]) -> Vec<u8> {
        let mut all = vec![open::VERSION];
        let mut add = |item: u8, value: &[u8]| {
            all.push(item);
            all.extend((value.len() as u32).to_le_bytes());
            all.extend_from_slice(value);
        };
        add(open::UTF8_FILE_NAME, &[]);
        add(open::USER_NAME, b"SYSDBA");
        // Texts come and go as they are stored.
        add(open::CHARACTER_SET, b"NONE");
        // The engine in this process, and no server that it would look for otherwise.
        add(open::CONFIG, b"Providers=Engine13");
        add(open::FORCE_WRITE, &[self.forces_writes().into()]);
        let number = |name: &str| self.options.setting(name).and_then(|given| given.parse().ok());
        let page_size: u64 = number("page_size").unwrap_or(PAGE_SIZE);
        let buffers = number("page_buffers").unwrap_or(self.options.memory / page_size.max(1));
        let buffers = u32::try_from(buffers).unwrap_or(u32::MAX);
        add(open::PAGE_BUFFERS, &buffers.to_le_bytes());
        let interval = number("sweep_interval").unwrap_or(SWEEP_INTERVAL);
        add(open::SWEEP_INTERVAL, &(interval as u32).to_le_bytes());
        if made == Made::New {
            add(open::PAGE_SIZE, &(page_size as u32).to_le_bytes());
            add(open::SQL_DIALECT, &[3]);
            add(open::DATABASE_CHARACTER_SET, super::dialect::CHARACTER_SET.as_bytes());
        }
        for (item, value) in more {
            add(*item, &[*value]);
        }
        all
    }
}
