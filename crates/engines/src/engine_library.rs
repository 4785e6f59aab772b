//! Engines outside of this repository: a shared library with the C interface `embermark_engine.h`
//! (`crates/abi`), given by `--engine-library`.
//!
//! A separate process reads the library's description, [`Described`]. A process that only needs the
//! description does not load the library, and is not harmed if it is broken.

mod api;
mod description;
mod dialect;
mod handle;
mod load;
mod row;
mod scope;
mod session;
mod store;
mod table;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::{fs, io};

use embermark_model::{Durability, EngineLibrary};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::registry::{self, GROUPS};
use crate::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Result, Settings, Store, Tier,
    TierSetting,
};
use api::{Api, Functions};
pub use description::EngineDescription;
use handle::Handle;
use session::Session;
use store::Client;

/// A library and its description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The file.
    pub library: EngineLibrary,
    /// The description. Its id can be one that the user has set.
    pub about: EngineDescription,
    /// Whether the id was set by the user.
    renamed: bool,
    /// Identifies the file without reading it.
    stamp: Stamp,
}

/// Device, inode, length, and the time of the last change of a file in s and ns.
type Stamp = (u64, u64, u64, i64, i64);

fn file_stamp(path: &Path) -> io::Result<Stamp> {
    let meta = fs::metadata(path)?;
    Ok((meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

impl Described {
    /// Loads a library and reads its description. It stays loaded.
    ///
    /// # Errors
    /// Fails when the file cannot be read, is not such a library, or has an invalid description.
    /// The error names it.
    pub fn load(path: &Path) -> std::result::Result<Self, String> {
        let cannot = |why: String| unusable(path, &why);
        let read = || Ok::<_, io::Error>((file_stamp(path)?, fs::read(path)?));
        let (stamp, bytes) = read().map_err(|error| cannot(error.to_string()))?;
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let (_, about) = load::load(path).map_err(cannot)?;
        let library = EngineLibrary { path: path.to_owned(), sha256 };
        Ok(Self { library, about, renamed: false, stamp })
    }

    /// Sets an id given by the user, so that two versions of an engine have separate columns.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.renamed = self.about.id != id;
        id.clone_into(&mut self.about.id);
        self
    }
}

/// Splits `base=old/libmine.so` or `old/libmine.so` into the id, if there is one, and the path of
/// the library. A path with `=` is a path if a `/` precedes the `=`.
pub fn split_id(given: &Path) -> (Option<&str>, &Path) {
    let named = given.to_str().and_then(|text| text.split_once('='));
    let named = named.filter(|(id, path)| load::is_id(id) && !path.is_empty());
    named.map_or((None, given), |(id, path)| (Some(id), Path::new(path)))
}

/// Returns the error message for a library that cannot be used.
pub fn unusable(path: &Path, why: &str) -> String {
    format!("the engine library {} cannot be used: {why}", path.display())
}

/// Libraries of this process, with their engines.
static ADDED: RwLock<Vec<&'static LibraryEngine>> = RwLock::new(Vec::new());

/// Adds an engine to the [registry](registry::all) for the life of the process. A library that was
/// added before is not added again.
///
/// # Errors
/// Fails when another engine has its id.
pub fn add(described: Described) -> std::result::Result<&'static dyn Engine, String> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = added.iter().find(|known| *known.described == described) {
        return Ok(*known);
    }
    let (id, path) = (&described.about.id, &described.library.path);
    let taken = |whose: String| {
        Err(unusable(path, &format!("it calls its engine '{id}', which is the name of {whose}")))
    };
    if GROUPS.contains(&&**id) {
        return taken("several engines together".to_owned());
    }
    if let Some(other) = added.iter().find(|other| other.info.id == id) {
        return taken(format!("that of {}", other.described.library.path.display()));
    }
    if registry::find(id).is_ok() {
        return taken("an engine that embermark has".to_owned());
    }
    let described = Box::leak(Box::new(described));
    let engine: &'static LibraryEngine = Box::leak(Box::new(LibraryEngine::new(described)));
    added.push(engine);
    registry::append(engine);
    Ok(engine)
}

/// Returns the library of the engine with this id, if it was [added](add).
pub fn find(id: &str) -> Option<&'static Described> {
    find_where(|described| described.about.id == id)
}

/// Returns the library with this path, if it was [added](add) under this id, or under its own.
pub fn find_at(path: &Path, id: Option<&str>) -> Option<&'static Described> {
    find_where(|described| {
        let is_named = id.map_or(!described.renamed, |id| described.about.id == id);
        is_named && described.library.path == path
    })
}

fn find_where(is: impl Fn(&Described) -> bool) -> Option<&'static Described> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    added.iter().map(|known| known.described).find(|described| is(described))
}

/// The engine of a library, which is loaded when a database is opened.
struct LibraryEngine {
    described: &'static Described,
    info: Info,
    /// In the order of [`Durability::ALL`].
    tiers: [(Tier, TierSetting<()>); 3],
    settings: Settings,
    api: OnceLock<std::result::Result<&'static Api, String>>,
}

impl LibraryEngine {
    fn new(described: &'static Described) -> Self {
        let about = &described.about;
        let info = if about.answers_sql { Info::sql } else { Info::key_value };
        let info = info(&about.id, &about.name, &about.licence);
        let tiers = Durability::ALL.map(|tier| about.tiers[tier as usize].leaked_setting());
        let settings = about.leaked_settings();
        Self { info, tiers, settings, api: OnceLock::new(), described }
    }

    /// Returns the library. The first call loads it and checks that its description is unchanged.
    fn api(&self) -> Result<&'static Api> {
        let path = &self.described.library.path;
        let load = || {
            let is_same = file_stamp(path).is_ok_and(|stamp| stamp == self.described.stamp);
            let other = || "it has changed since its description was read".to_owned();
            is_same.then_some(()).ok_or_else(other)?;
            let (api, about) = load::load(path)?;
            let is_unchanged =
                EngineDescription { id: self.info.id.to_owned(), ..about } == self.described.about;
            is_unchanged.then(|| &*Box::leak(Box::new(api))).ok_or_else(other)
        };
        let why = |why: &String| {
            let remedy = "start the command again with the current library";
            EngineError::unavailable(self.info.id, unusable(path, why), remedy)
        };
        self.api.get_or_init(load).as_ref().copied().map_err(why)
    }
}

impl Engine for LibraryEngine {
    fn info(&self) -> Info {
        self.info
    }

    /// Available, because its description was read.
    fn availability(&self) -> Availability {
        Availability::Ready { version: self.described.about.version.clone() }
    }

    fn tier(&self, durability: Durability) -> Tier {
        self.tiers[durability as usize].0
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn forbids_publishing(&self) -> bool {
        self.described.about.forbids_publishing
    }

    fn is_append_only(&self) -> bool {
        self.described.about.appends_only
    }

    fn has_maintenance(&self) -> bool {
        self.described.about.has_maintenance
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (api, id) = (self.api()?, self.info.id);
        let about = &self.described.about;
        let (mut settings, store) = match &api.functions {
            Functions::KeyValue(functions) => {
                let mut client = Client::new(Handle::open(api, functions, id, options)?, about)?;
                (client.handle.settings()?, Store::Kv(Box::new(client)))
            }
            Functions::Sql(functions) => {
                let mut handle = Handle::open(api, functions.as_ref(), id, options)?;
                (handle.settings()?, Session { handle, about }.store())
            }
        };
        self.settings.check_accepted(id, options, &mut settings)?;
        self.tiers[options.durability as usize].1.check_settings(id, options, &mut settings)?;
        Ok(Opened { store, version: about.version.clone(), settings, server: None })
    }
}
