//! Private servers as tests start them: opened, inspected from outside, owned by other processes.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod owner;
pub mod processes;
pub mod readings;

pub use crate::join::common as rows;

use std::path::{Path, PathBuf};

use embermark_engines::document::DocumentStore;
use embermark_engines::series::SeriesStore;
use embermark_engines::sql::SqlStore;
use embermark_engines::{Engine, EngineError, OpenOptions, Opened, Store, registry};
use embermark_model::Durability;
use embermark_skips::is_here;
use tempfile::TempDir;

/// A server engine, named by its id.
#[derive(Clone, Copy, Debug)]
pub struct ServerEngine(pub &'static str);

impl ServerEngine {
    pub fn engine(self) -> &'static dyn Engine {
        registry::find(self.0).unwrap()
    }

    /// Whether the engine can run here; if it cannot, the test is skipped.
    pub fn is_here(self) -> bool {
        is_here(self.engine())
    }

    /// Returns one of its programs.
    pub fn program(self, name: &str) -> PathBuf {
        let programs = self.engine().programs();
        programs.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub fn open(self, options: &OpenOptions) -> Opened {
        self.engine().open(options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the error of an open that has to fail.
    pub fn refused(self, options: &OpenOptions) -> EngineError {
        match self.engine().open(options) {
            Ok(_) => panic!("{} opened", self.0),
            Err(error) => error,
        }
    }

    /// Starts a private server in a new folder; returns none if the test is skipped.
    pub fn start(self, durability: Durability) -> Option<(TempDir, Opened)> {
        if !self.is_here() {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let opened = self.open(&options(dir.path(), durability));
        Some((dir, opened))
    }

    /// Returns the SQL store of such a server.
    pub fn sql(self, durability: Durability) -> Option<(TempDir, Box<dyn SqlStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, sql(opened.store)))
    }

    /// Returns the document store of such a server.
    pub fn documents(self, durability: Durability) -> Option<(TempDir, Box<dyn DocumentStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, documents(opened.store)))
    }

    /// Returns the series store of such a server.
    pub fn series(self, durability: Durability) -> Option<(TempDir, Box<dyn SeriesStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, series(opened.store)))
    }
}

/// Returns the options of a private server below `dir`.
pub fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

/// Returns the options of a database on a server given by URL; nothing is written to a folder.
pub fn given(url: &str, durability: Durability) -> OpenOptions {
    OpenOptions { url: Some(url.to_owned()), ..options(Path::new("/nowhere"), durability) }
}

/// Returns a setting that was read back; `absent` if no setting has that name.
pub fn setting<'a>(opened: &'a Opened, name: &str) -> &'a str {
    let found = opened.settings.iter().find(|(known, _)| known == name);
    found.map_or("absent", |(_, value)| value)
}

pub fn sql(store: Store) -> Box<dyn SqlStore> {
    match store {
        Store::Sql(store) => store,
        _ => panic!("no SQL store"),
    }
}

pub fn documents(store: Store) -> Box<dyn DocumentStore> {
    match store {
        Store::Document(store) => store,
        _ => panic!("no document store"),
    }
}

pub fn series(store: Store) -> Box<dyn SeriesStore> {
    match store {
        Store::Series(store) => store,
        _ => panic!("no series store"),
    }
}
