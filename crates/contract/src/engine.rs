//! How an engine describes itself, and how it is opened.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use embermark_model::result::EngineFacts;
use embermark_model::{Durability, Explained};
use serde::{Deserialize, Serialize};

use crate::kv::KvStore;
use crate::{EngineError, Result, Settings, Store, Tier};

/// A database engine. Implemented once per engine, shared and stateless.
pub trait Engine: Sync {
    /// Describes the engine.
    fn info(&self) -> Info;

    /// Reports whether the engine can run here, without starting it for long.
    fn availability(&self) -> Availability;

    /// Whether the engine runs only on a server given by URL, because embermark installs none.
    fn is_given(&self) -> bool {
        false
    }

    /// Returns the programs that the engine starts: names and paths. Empty if it starts none or
    /// cannot run here.
    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// Returns the environment variable that selects another version of the engine for a process.
    /// It names the folder of its library or, for a server, of its programs. `None` if the
    /// engine is linked into this program.
    fn library(&self) -> Option<&'static str> {
        None
    }

    /// Returns where the engine's library or program comes from. `None` if it has none or cannot
    /// run here.
    fn origin(&self) -> Option<Origin> {
        None
    }

    /// Returns where the system's own version is, in the form of the variable of
    /// [`library`](Self::library). Only an engine that runs a fetched release has this choice, and
    /// the configuration `ENGINE-system` makes it. `None` for every other engine.
    ///
    /// # Errors
    /// Unavailable if the system has none.
    fn system(&self) -> Option<Result<PathBuf>> {
        None
    }

    /// Returns how the engine makes a durability tier: the cheapest setting that keeps at least
    /// that promise.
    fn tier(&self, durability: Durability) -> Tier;

    /// Returns the settings that a configuration may change ([`OpenOptions::settings`]).
    fn settings(&self) -> Settings {
        Settings::NONE
    }

    /// Whether its licence forbids publishing benchmark results without the vendor's consent. Such
    /// an engine runs only for users who state that they accept this.
    fn forbids_publishing(&self) -> bool {
        false
    }

    /// Returns the costs that are typical of the engine, with the reasons that reports show next
    /// to them. A high cost that is missing here is shown as unexplained.
    fn explained(&self) -> &'static [Explained] {
        &[]
    }

    /// Opens the database in the folder that `options` names, and creates it if it does not
    /// exist. A server engine starts a private server there.
    ///
    /// # Errors
    /// If the engine is not available or refuses.
    fn open(&self, options: &OpenOptions) -> Result<Opened>;

    /// Whether rows can only be added and read: there are no keys and no indexes, and rows are
    /// never changed or deleted.
    fn is_append_only(&self) -> bool {
        false
    }

    /// Whether [`Lifecycle::maintain`](crate::Lifecycle::maintain) does anything: a checkpoint, a
    /// compaction, a sync on request.
    fn has_maintenance(&self) -> bool {
        true
    }

    /// Opens a second client of a database that another process has open with the same options.
    /// `at` is what that process's [`Lifecycle::join`](crate::Lifecycle::join) returned. The client
    /// is an ordinary one of the same tier. It creates nothing and changes no setting of the
    /// database. Closing it stops no server and removes nothing.
    ///
    /// # Errors
    /// If the engine allows only one process at a time, or refuses.
    fn join(&self, _site: &OpenOptions, _at: &str) -> Result<Store> {
        let what = "a second process at a database that one has open";
        Err(EngineError::unsupported(self.info().id, what))
    }

    /// Checks that the engine's client accepts a URL, without connecting.
    ///
    /// # Errors
    /// If the client does not accept the URL. The error says what is wrong with it.
    fn check_url(&self, _url: &str) -> std::result::Result<(), String> {
        Ok(())
    }

    /// Removes what a killed private server with its data below `site` left outside of `site`:
    /// shared memory. Returns whether some of it is still in use by a server that has not ended.
    fn remove_abandoned(&self, _site: &Path) -> bool {
        false
    }

    /// Removes what a killed client left on the server at `url`: its open sessions and the database
    /// or schema `name` ([`OpenOptions::guest`]). A missing one is not an error.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses.
    fn remove_left(&self, _url: &str, _name: &str) -> Result<()> {
        Ok(())
    }
}

/// Description of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Name on the command line and in results.
    pub id: &'static str,
    /// The engine's own name.
    pub name: &'static str,
    /// Embedded, server or reference.
    pub kind: Kind,
    /// Store family.
    pub family: DataModel,
    /// Licence of what is linked or started.
    pub licence: &'static str,
}

impl Info {
    /// Describes an embedded key-value engine.
    pub const fn key_value(id: &'static str, name: &'static str, licence: &'static str) -> Self {
        Self { id, name, kind: Kind::Embedded, family: DataModel::KeyValue, licence }
    }

    /// Describes an embedded SQL engine.
    pub const fn sql(id: &'static str, name: &'static str, licence: &'static str) -> Self {
        Self { family: DataModel::Sql, ..Self::key_value(id, name, licence) }
    }

    /// Describes a server engine.
    pub const fn server(
        id: &'static str,
        name: &'static str,
        family: DataModel,
        licence: &'static str,
    ) -> Self {
        Self { id, name, kind: Kind::Server, family, licence }
    }

    /// Returns the description in the form of a result file.
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
    /// In the process that uses it.
    Embedded,
    /// In its own processes.
    Server,
    /// Not a candidate: shown for comparison, never ranked, and run in every requested tier.
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

/// Data model of an engine's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataModel {
    /// SQL.
    Sql,
    /// Ordered keys and values.
    KeyValue,
    /// Documents with named values.
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
    /// The engine can run here.
    Ready {
        /// Version that the engine reports, for example `3.50.4`.
        version: String,
    },
    /// The engine cannot run here.
    Missing {
        /// What is missing.
        why: String,
        /// The command that installs it.
        remedy: String,
    },
}

/// Where an engine's library or program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Compiled into this program.
    CompiledIn,
    /// A fetched release at this path.
    Fetched(PathBuf),
    /// Installed on the system at this path.
    System(PathBuf),
    /// Named by this environment variable, at this path.
    Named(&'static str, PathBuf),
}

impl Origin {
    /// Returns the path of its library or program if that is a separate file.
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

/// Where and how to open a database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpenOptions {
    /// Absolute path of a folder that only this engine uses. It is empty or holds a database
    /// that the same engine left there, however it ended, or a copy of one that is closed.
    pub dir: PathBuf,
    /// Durability tier to make.
    pub durability: Durability,
    /// Cache memory that the engine may use, in bytes: the same for every engine.
    pub memory: u64,
    /// Limit for the engine's memory and the page cache of its files together, in bytes. The
    /// database may be larger. `None` if there is no limit.
    pub limit: Option<u64>,
    /// A running server to use instead of a private one.
    pub url: Option<String>,
    /// Name of the database or schema that is made on such a server: letters, digits and
    /// underscores, at most 48. No other client of the server may use the name. A database
    /// that has it was left by a killed client and is removed first.
    pub guest: String,
    /// How to connect to a private server.
    pub link: Link,
    /// Number of clients in this process that will use the database at the same time. A private
    /// server makes room for them.
    pub clients: u32,
    /// Whether a second process will use the database at the same time ([`Engine::join`]).
    pub shared: bool,
    /// Settings of a configuration by name, checked by [`Engine::settings`]. They override the
    /// adapter's own, including those of the tier. Empty for the adapter's own.
    pub settings: Vec<(String, String)>,
}

impl OpenOptions {
    /// Options for a private database with one client. A server is reached by a socket. On a server
    /// given by URL the database has a random name.
    pub fn new(dir: impl Into<PathBuf>, durability: Durability, memory: u64) -> Self {
        let guest = format!("embermark_{:016x}", RandomState::new().hash_one(()));
        let (dir, link) = (dir.into(), Link::Socket);
        let (limit, url, settings) = (None, None, Vec::new());
        let (clients, shared) = (1, false);
        Self { dir, durability, memory, limit, url, guest, link, clients, shared, settings }
    }

    /// Whether only one client will use the database. An embedded engine may then lock it
    /// permanently and refuse every other client.
    pub fn is_alone(&self) -> bool {
        self.clients <= 1 && !self.shared
    }
}

/// How a client connects to a private server. An embedded engine ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// A Unix socket in the server's own folder, if the engine has one. Nothing else listens.
    #[default]
    Socket,
    /// TCP on the loopback address, so that its traffic can be counted
    /// (`embermark_network::counters`). Meant for a process that has entered a network of
    /// its own (`embermark_network::enter`). In a shared network the server requires a
    /// random password, or is unsupported.
    Loopback,
}

/// An open database.
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Version that the engine reports.
    pub version: String,
    /// Relevant settings, read back from the engine under its own names.
    pub settings: Vec<(String, String)>,
    /// Process id of a private server, the root of its process tree.
    pub server: Option<u32>,
}

impl Opened {
    /// Wraps an embedded key-value store.
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
