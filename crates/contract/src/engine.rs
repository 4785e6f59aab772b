//! What an engine says of itself, and how it is opened.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use embermark_model::result::EngineFacts;
use embermark_model::{Durability, Explained};
use serde::{Deserialize, Serialize};

use crate::kv::KvStore;
use crate::{EngineError, Result, Settings, Store, Tier};

/// A database engine. Implemented once per engine; shared and stateless.
pub trait Engine: Sync {
    /// What it is.
    fn info(&self) -> Info;

    /// Whether it can run here, found out without starting it for long.
    fn availability(&self) -> Availability;

    /// Whether it runs only on a server given by its URL, because embermark installs none.
    fn is_given(&self) -> bool {
        false
    }

    /// The programs that it starts, by name, and where they are found. None where it starts none or
    /// cannot run here.
    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// The environment variable that names the folder of its library, or its programs where it is a
    /// server, so that a process has another version of it. `None` where it is linked into this
    /// program.
    fn library(&self) -> Option<&'static str> {
        None
    }

    /// Where what it runs comes from. `None` where that is nothing, or it cannot run here.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// Where the system's own version is, as the variable of [`library`](Self::library) names it, of an
    /// engine that runs a release of its own where one was fetched: what the configuration
    /// `ENGINE-system` runs. `None` of an engine that has no such choice.
    ///
    /// # Errors
    /// Unavailable, when the system has none.
    fn system(&self) -> Option<Result<PathBuf>> {
        None
    }

    /// How it makes a durability tier: the cheapest setting that keeps at least that promise.
    fn tier(&self, durability: Durability) -> Tier;

    /// What a configuration may set of it ([`OpenOptions::settings`]).
    fn settings(&self) -> Settings {
        Settings::NONE
    }

    /// Whether its licence forbids publishing benchmark results without the vendor's consent. Such
    /// an engine runs only for who says that they have accepted that.
    fn forbids_publishing(&self) -> bool {
        false
    }

    /// Costs that stand out and are its nature: reports name the reason beside them. One that nothing
    /// here explains is shown as unexplained.
    fn explained(&self) -> &'static [Explained] {
        &[]
    }

    /// Opens the database in the directory that `options` name, making it where there is none; a
    /// server engine starts a private server there.
    ///
    /// # Errors
    /// When the engine is not available or refuses.
    fn open(&self, options: &OpenOptions) -> Result<Opened>;

    /// Whether its rows are only added and read: there are no keys, no indexes, and no rows that change or go.
    fn is_append_only(&self) -> bool {
        false
    }

    /// Whether it has anything to do for maintenance
    /// ([`Lifecycle::maintain`](crate::Lifecycle::maintain)): a checkpoint, a compaction, a sync that it
    /// can be asked for.
    fn has_maintenance(&self) -> bool {
        true
    }

    /// Opens a second client of a database that another process has open as `options` say, reached as that
    /// one's [`Lifecycle::join`](crate::Lifecycle::join) says by `at`. An ordinary client of the same
    /// tier; it creates nothing and changes no setting of the database, and closing it stops no server
    /// and removes nothing.
    ///
    /// # Errors
    /// When the engine lets one process alone use a database, or refuses.
    fn join(&self, _site: &OpenOptions, _at: &str) -> Result<Store> {
        let what = "a second process at a database that one has open";
        Err(EngineError::unsupported(self.info().id, what))
    }

    /// Whether its client takes a URL; reaches no server.
    ///
    /// # Errors
    /// What is wrong with the URL.
    fn check_url(&self, _url: &str) -> std::result::Result<(), String> {
        Ok(())
    }

    /// Removes what a private server of it that was killed, and whose data lies below `site`, has left outside
    /// of that: shared memory. Whether some is still in use, by a server that has not ended.
    fn remove_abandoned(&self, _site: &Path) -> bool {
        false
    }

    /// Removes what a client that was killed has left on the server at `url`: what it had open there,
    /// and the database or schema `name` ([`OpenOptions::guest`]). One that is not there is no error.
    ///
    /// # Errors
    /// When the server is not reached, or refuses.
    fn remove_left(&self, _url: &str, _name: &str) -> Result<()> {
        Ok(())
    }
}

/// What an engine is.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// Its own name for itself.
    pub name: &'static str,
    /// Embedded, server or reference.
    pub kind: Kind,
    /// Its store family.
    pub family: DataModel,
    /// Licence of what is linked or started.
    pub licence: &'static str,
}

impl Info {
    /// The same as a result file says it.
    pub fn facts(&self) -> EngineFacts {
        EngineFacts {
            name: self.name.to_owned(),
            kind: self.kind.to_string(),
            data_model: self.family.to_string(),
            licence: self.licence.to_owned(),
            configuration: None,
            engine_library: None,
        }
    }
}

/// Where an engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In the process of its user.
    Embedded,
    /// In processes of its own.
    Server,
    /// No candidate: shown for orientation, never ranked, runs in every tier asked for.
    Reference,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Embedded => "embedded",
            Self::Server => "server",
            Self::Reference => "reference",
        })
    }
}

/// How an engine is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataModel {
    /// SQL.
    Sql,
    /// Ordered keys and values.
    KeyValue,
    /// Documents of named values.
    Document,
    /// Points in time.
    Series,
}

impl fmt::Display for DataModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sql => "SQL",
            Self::KeyValue => "key-value",
            Self::Document => "document",
            Self::Series => "series",
        })
    }
}

/// Whether an engine can run here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Availability {
    /// It can; its version, as it says itself.
    Ready {
        /// For example `3.50.4`.
        version: String,
    },
    /// It cannot.
    Missing {
        /// What is missing.
        why: String,
        /// The command that gets it.
        remedy: String,
    },
}

/// Where what an engine runs comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is part of this program.
    CompiledIn,
    /// A release that was fetched, at this path.
    Fetched(PathBuf),
    /// The system has it, at this path.
    System(PathBuf),
    /// This environment variable names it, at this path.
    Named(&'static str, PathBuf),
}

impl Origin {
    /// Its library or program, if it is a file of its own.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::CompiledIn => None,
            Self::Fetched(path) | Self::System(path) | Self::Named(_, path) => Some(path),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CompiledIn => "compiled in",
            Self::Fetched(_) => "fetched",
            Self::System(_) => "system",
            Self::Named(variable, _) => variable,
        })
    }
}

/// Where and how a database is to be opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenOptions {
    /// A directory for the engine's files alone, an absolute path: empty, or with the database that
    /// the same engine has left there, however it ended, or a copy of one that is closed.
    pub dir: PathBuf,
    /// The tier to make.
    pub durability: Durability,
    /// Cache memory the engine may use, in bytes: the same for every engine.
    pub memory: u64,
    /// What the engine and the page cache of its files have together, in bytes, where that is limited:
    /// the database may be larger.
    pub limit: Option<u64>,
    /// A running server to use instead of a private one.
    pub url: Option<String>,
    /// Name of the database or schema that is made on such a server, which nobody else there may
    /// have: letters, digits and underscores, 48 at most. What is there by that name is a client's
    /// that was killed, and is removed first.
    pub guest: String,
    /// How a private server is reached.
    pub link: Link,
    /// Clients of this process that will use it at the same time, for a private server to make room
    /// for.
    pub clients: u32,
    /// Whether a second process will use it meanwhile ([`Engine::join`]).
    pub shared: bool,
    /// The settings of a configuration by name, which [`Engine::settings`] has checked: they win over
    /// the adapter's own, those of the tier included. Empty: the adapter's own.
    pub settings: Vec<(String, String)>,
}

impl OpenOptions {
    /// A private database of one client, a server's reached by a socket. On a server that is given it
    /// has a random name.
    pub fn new(dir: impl Into<PathBuf>, durability: Durability, memory: u64) -> Self {
        let guest = format!("embermark_{:016x}", RandomState::new().hash_one(()));
        let (dir, link) = (dir.into(), Link::Socket);
        let (limit, url, settings) = (None, None, Vec::new());
        let (clients, shared) = (1, false);
        Self { dir, durability, memory, limit, url, guest, link, clients, shared, settings }
    }

    /// Whether the client that opens it has it alone. An embedded engine may then lock it for good,
    /// and refuse every other client.
    pub fn is_alone(&self) -> bool {
        self.clients <= 1 && !self.shared
    }
}

/// How a client of ours reaches a private server. An embedded engine has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// A Unix socket in the server's own directory, where the engine has one; nothing else listens.
    #[default]
    Socket,
    /// TCP on the loopback address, so that its traffic can be counted
    /// (`embermark_engines::network::counters`). Meant for a process that has entered
    /// (`embermark_engines::network::enter`) a network of its own. In one that others share the
    /// server asks for a random password, or is unsupported.
    Loopback,
}

/// A database that was opened.
pub struct Opened {
    /// The database.
    pub store: Store,
    /// Version of the engine that answered, as it says itself.
    pub version: String,
    /// The settings that matter, read back from the engine, by its own names.
    pub settings: Vec<(String, String)>,
    /// Process of a private server, the root of its process tree.
    pub server: Option<u32>,
}

impl Opened {
    /// An embedded key-value store.
    pub fn embedded<'a>(
        store: impl KvStore + 'static,
        version: impl Into<String>,
        settings: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Self {
        let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), value));
        let (store, version) = (Store::Kv(Box::new(store)), version.into());
        Self { store, version, settings: settings.collect(), server: None }
    }
}
