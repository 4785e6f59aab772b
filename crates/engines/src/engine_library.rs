//! Engines outside of this repository: a shared library whose C interface is `embermark_engine.h`
//! (`crates/abi`), given by `--engine-library`.
//!
//! What such a library says of itself is [`Described`], by a process of its own: whoever only has to know what
//! the engine is does not open it, and is not hurt where it is broken.

mod about;
mod api;
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
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result,
    Settings, Store, Tier, TierSetting,
};
pub use about::About;
use api::{Api, Functions};
use session::Session;
use store::Client;

/// A library, and what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Described {
    /// The file.
    pub library: EngineLibrary,
    /// What it says, but for an id of the user's own.
    pub about: About,
    /// Whether its id is the user's own and not what it says.
    renamed: bool,
    /// By what the same file is known again without reading it.
    stamp: Stamp,
}

/// Device, inode, length, and the time of the last change of a file in s and ns.
type Stamp = (u64, u64, u64, i64, i64);

fn stamp(path: &Path) -> io::Result<Stamp> {
    let facts = fs::metadata(path)?;
    Ok((facts.dev(), facts.ino(), facts.len(), facts.mtime(), facts.mtime_nsec()))
}

impl Described {
    /// Opens a library and asks it. It stays open.
    ///
    /// # Errors
    /// When the file cannot be read, is no such library, or says what cannot be; the error names it.
    pub fn of(path: &Path) -> std::result::Result<Self, String> {
        let cannot = |why: String| unusable(path, &why);
        let read = || Ok::<_, io::Error>((stamp(path)?, fs::read(path)?));
        let (stamp, bytes) = read().map_err(|error| cannot(error.to_string()))?;
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let (_, about) = load::load(path).map_err(cannot)?;
        let library = EngineLibrary { path: path.to_owned(), sha256 };
        Ok(Self { library, about, renamed: false, stamp })
    }

    /// The same under an id of the user's own, so that two versions of an engine are two columns.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        self.renamed = self.about.id != id;
        id.clone_into(&mut self.about.id);
        self
    }
}

/// A library as a user gives it, `base=old/libmine.so` or `old/libmine.so`: the id that its engine is to have, if
/// that is not its own, and the path. A path with `=` is taken for one where a `/` stands before that.
pub fn given(given: &Path) -> (Option<&str>, &Path) {
    let named = given.to_str().and_then(|text| text.split_once('='));
    match named.filter(|(id, path)| load::is_id(id) && !path.is_empty()) {
        Some((id, path)) => (Some(id), Path::new(path)),
        None => (None, given),
    }
}

/// That a library cannot be used, for a person.
pub fn unusable(path: &Path, why: &str) -> String {
    format!("the engine library {} cannot be used: {why}", path.display())
}

/// Those of this process, by their engines.
static ADDED: RwLock<Vec<&'static Outside>> = RwLock::new(Vec::new());

/// Has the [registry](registry::all) know an engine from now on; it lives as long as the process. One that
/// it knows already is not added twice.
///
/// # Errors
/// When another engine has its name.
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
    let engine: &'static Outside = {
        let described = Box::leak(Box::new(described));
        Box::leak(Box::new(Outside::new(described)))
    };
    added.push(engine);
    registry::append(engine);
    Ok(engine)
}

/// The library of the engine of that id, where it is one that was [added](add).
pub fn of(id: &str) -> Option<&'static Described> {
    described(|described| described.about.id == id)
}

/// The library of that path, where it was [added](add) under this id, or under its own.
pub fn at(path: &Path, id: Option<&str>) -> Option<&'static Described> {
    described(|described| {
        let is_named = id.map_or(!described.renamed, |id| described.about.id == id);
        is_named && described.library.path == path
    })
}

fn described(is: impl Fn(&Described) -> bool) -> Option<&'static Described> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    added.iter().map(|known| known.described).find(|described| is(described))
}

/// The engine of a library, which is opened when a database is.
struct Outside {
    described: &'static Described,
    info: Info,
    /// In the order of [`Durability::ALL`].
    tiers: [(Tier, TierSetting<()>); 3],
    settings: Settings,
    api: OnceLock<std::result::Result<&'static Api, String>>,
}

impl Outside {
    fn new(described: &'static Described) -> Self {
        let about = &described.about;
        let leaked = |text: &str| -> &'static str { text.to_owned().leak() };
        let info = Info {
            id: leaked(&about.id),
            name: leaked(&about.name),
            kind: Kind::Embedded,
            family: if about.answers_sql { DataModel::Sql } else { DataModel::KeyValue },
            licence: leaked(&about.licence),
        };
        let tiers = Durability::ALL.map(|durability| about.tier(durability).leak());
        let settings = about.leaked_settings();
        Self { info, tiers, settings, api: OnceLock::new(), described }
    }

    /// The library, opened when it is first asked for: it has to say what it said before.
    fn api(&self) -> Result<&'static Api> {
        let path = &self.described.library.path;
        let load = || {
            let is_same = stamp(path).is_ok_and(|stamp| stamp == self.described.stamp);
            let other = || "it is another one than when it was asked what it is".to_owned();
            is_same.then_some(()).ok_or_else(other)?;
            let (api, about) = load::load(path)?;
            let says_so = About { id: self.info.id.to_owned(), ..about } == self.described.about;
            says_so.then(|| &*Box::leak(Box::new(api))).ok_or_else(other)
        };
        let why = |why: &String| {
            let remedy = "begin anew with the library as it is";
            EngineError::unavailable(self.info.id, unusable(path, why), remedy)
        };
        self.api.get_or_init(load).as_ref().copied().map_err(why)
    }
}

impl Engine for Outside {
    fn info(&self) -> Info {
        self.info
    }

    /// That it was asked what it is.
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
                let mut client = Client::open(api, functions, id, about, options)?;
                (client.settings()?, Store::Kv(Box::new(client)))
            }
            Functions::Sql(functions) => {
                let mut session = Session::open(api, functions, id, about, options)?;
                (session.settings()?, session.store())
            }
        };
        self.settings.taken(id, options, &mut settings)?;
        self.tiers[options.durability as usize].1.check(id, options, &mut settings)?;
        Ok(Opened { store, version: about.version.clone(), settings, server: None })
    }
}
