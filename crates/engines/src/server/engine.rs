//! A server engine, described by one value.

use std::path::{Path, PathBuf};

use embermark_model::{Durability, Explained};

use super::{Server, check_tier};
use crate::deps;
use crate::program::Missing;
use crate::{
    Availability, Engine, Info, OpenOptions, Opened, Origin, Result, Settings, Store, Tier,
    WeakerSettings,
};

/// An engine's programs by name, and their version.
pub(crate) type FoundPrograms = (Vec<(&'static str, PathBuf)>, String);

pub(crate) struct ReadBack {
    pub version: String,
    pub settings: Vec<(String, String)>,
    /// Bytes of its cache, if it has one.
    pub cache: Option<u64>,
}

/// Returns which of the settings read back are weaker than a tier.
pub(crate) type FindWeaker = fn(Durability, &[(String, String)]) -> Option<WeakerSettings>;

/// A server engine. `S` is a session with one database.
pub(crate) struct ServerEngine<S> {
    pub info: Info,
    pub forbids_publishing: bool,
    pub has_maintenance: bool,
    /// Returns how it makes a tier.
    pub tier: fn(Durability) -> Tier,
    /// Returns which of the settings read back are weaker than a tier.
    pub weaker_settings: FindWeaker,
    /// Settings that a configuration can change.
    pub settings: Settings,
    /// Costs that are typical of it ([`Engine::explained`]).
    pub explained: &'static [Explained],
    /// Environment variable with the location of its programs.
    pub variable: &'static str,
    /// Finds its programs, with the server last.
    pub find: fn() -> std::result::Result<FoundPrograms, Missing>,
    /// Finds the system's own version ([`Engine::system`]).
    pub system: Option<fn() -> std::result::Result<PathBuf, Missing>>,
    /// Returns whether it can run once its programs were found. It can need a library as well.
    pub library: fn(Availability) -> Availability,
    /// Returns what is wrong with a URL for its client.
    pub check_url: fn(&str) -> std::result::Result<(), String>,
    /// Opens a session on a given server.
    pub given: fn(&str, &OpenOptions) -> Result<S>,
    /// Starts a private server and opens a session.
    pub private: fn(&OpenOptions) -> Result<(Server, S)>,
    pub read_back: fn(&mut S, &OpenOptions) -> Result<ReadBack>,
    /// Returns the store of a session. That of a private server ends with the server.
    pub store: fn(S, Option<Server>, &OpenOptions) -> Result<Store>,
    /// Opens a session with a database that another process has opened.
    pub join: fn(&str, &OpenOptions) -> Result<S>,
    /// Removes what a killed server left outside of its folder ([`Engine::remove_abandoned`]).
    pub remove_abandoned: fn(&Path) -> bool,
    /// Removes what a killed client has left under this name on the server at a URL.
    pub remove_left: fn(&str, &str) -> Result<()>,
}

impl<S> ServerEngine<S> {
    /// Returns the database of a session with its settings, which are read back and keep the tier.
    /// Errors name the `engine`.
    pub fn opened(
        &self,
        engine: &'static str,
        options: &OpenOptions,
        server: Option<Server>,
        mut session: S,
    ) -> Result<Opened> {
        let pid = server.as_ref().map(Server::pid);
        let ReadBack { version, mut settings, cache } = (self.read_back)(&mut session, options)?;
        self.settings.check_accepted(engine, options, &mut settings)?;
        check_tier(engine, options, &mut settings, cache, self.weaker_settings)?;
        let store = (self.store)(session, server, options)?;
        Ok(Opened { store, version, settings, server: pid })
    }
}

impl<S> Engine for ServerEngine<S> {
    fn info(&self) -> Info {
        self.info
    }

    fn availability(&self) -> Availability {
        (self.library)(match (self.find)() {
            Ok((_, version)) => Availability::Ready { version },
            Err(Missing { why, remedy }) => Availability::Missing { why, remedy },
        })
    }

    fn library(&self) -> Option<&'static str> {
        Some(self.variable)
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        (self.find)().map_or_else(|_| Vec::new(), |(programs, _)| programs)
    }

    fn origin(&self) -> Option<Origin> {
        let (_, program) = self.programs().pop()?;
        Some(deps::origin(self.info.id, program, Some(self.variable)))
    }

    fn system(&self) -> Option<Result<PathBuf>> {
        self.system.map(|system| system().map_err(|missing| missing.error(self.info.id)))
    }

    fn tier(&self, durability: Durability) -> Tier {
        (self.tier)(durability)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn explained(&self) -> &'static [Explained] {
        self.explained
    }

    fn forbids_publishing(&self) -> bool {
        self.forbids_publishing
    }

    fn has_maintenance(&self) -> bool {
        self.has_maintenance
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (server, session) = match &options.url {
            Some(url) => (None, (self.given)(url, options)?),
            None => (self.private)(options).map(|(server, session)| (Some(server), session))?,
        };
        self.opened(self.info.id, options, server, session)
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        (self.store)((self.join)(at, options)?, None, options)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        (self.check_url)(url)
    }

    fn remove_abandoned(&self, site: &Path) -> bool {
        (self.remove_abandoned)(site)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        (self.remove_left)(url, name)
    }
}
