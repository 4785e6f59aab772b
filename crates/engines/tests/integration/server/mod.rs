//! Private servers as tests start them: opened, looked at from outside, owned by other processes.

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

/// A server engine, by its id.
#[derive(Clone, Copy, Debug)]
pub struct ServerEngine(pub &'static str);

impl ServerEngine {
    pub fn engine(self) -> &'static dyn Engine {
        registry::find(self.0).unwrap()
    }

    /// Whether it can run here; where it cannot, the test is skipped.
    pub fn is_here(self) -> bool {
        is_here(self.engine())
    }

    /// A program that it runs.
    pub fn program(self, name: &str) -> PathBuf {
        let programs = self.engine().programs();
        programs.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    pub fn open(self, options: &OpenOptions) -> Opened {
        self.engine().open(options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The error of an open that has to fail.
    pub fn refused(self, options: &OpenOptions) -> EngineError {
        match self.engine().open(options) {
            Ok(_) => panic!("{} opened", self.0),
            Err(error) => error,
        }
    }

    /// A private server in a folder of its own; none where the test is skipped.
    pub fn start(self, durability: Durability) -> Option<(TempDir, Opened)> {
        if !self.is_here() {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let opened = self.open(&options(dir.path(), durability));
        Some((dir, opened))
    }

    /// The SQL store of such a server.
    pub fn sql(self, durability: Durability) -> Option<(TempDir, Box<dyn SqlStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, sql(opened.store)))
    }

    /// The document store of such a server.
    pub fn documents(self, durability: Durability) -> Option<(TempDir, Box<dyn DocumentStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, documents(opened.store)))
    }

    /// The series store of such a server.
    pub fn series(self, durability: Durability) -> Option<(TempDir, Box<dyn SeriesStore>)> {
        self.start(durability).map(|(dir, opened)| (dir, series(opened.store)))
    }
}

/// A private server below `dir`.
pub fn options(dir: &Path, durability: Durability) -> OpenOptions {
    OpenOptions::new(dir, durability, 32 << 20)
}

/// A database of a server that is given by URL; nothing is written anywhere here.
pub fn given(url: &str, durability: Durability) -> OpenOptions {
    OpenOptions { url: Some(url.to_owned()), ..options(Path::new("/nowhere"), durability) }
}

/// A setting that was read back; `absent` where there is none of that name.
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
