//! A server engine, described by one value.

use std::path::PathBuf;

use embermark_model::Durability;

use super::{Server, check_tier, connect};
use crate::deps;
use crate::program::{self, Missing};
use crate::{
    Availability, Engine, Info, OpenOptions, Opened, Origin, Result, Settings, Store, Tier,
    TierTable,
};

/// An engine's programs by name, and their version.
pub(crate) type FoundPrograms = (Vec<(&'static str, PathBuf)>, String);

pub(crate) struct ReadBack {
    pub version: String,
    pub settings: Vec<(String, String)>,
    /// Bytes of its cache, if it has one.
    pub cache: Option<u64>,
}

/// A server engine whose tiers are a table of settings. `S` is a session with one database.
pub(crate) struct ServerEngine<T: 'static, S> {
    pub info: Info,
    pub forbids_publishing: bool,
    pub has_maintenance: bool,
    pub tiers: &'static TierTable<T>,
    /// Settings that a configuration can change.
    pub settings: Settings,
    /// Environment variable with the location of its programs.
    pub variable: &'static str,
    /// Finds its programs, with the server last.
    pub find: fn() -> std::result::Result<FoundPrograms, Missing>,
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
    pub join: fn(&str) -> Result<S>,
    /// Removes what a killed client has left under this name on the server at a URL.
    pub remove_left: fn(&str, &str) -> Result<()>,
}

impl<T: Sync, S> Engine for ServerEngine<T, S> {
    fn info(&self) -> Info {
        self.info
    }

    fn availability(&self) -> Availability {
        (self.library)(program::availability((self.find)().map(|(_, version)| version)))
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

    fn tier(&self, durability: Durability) -> Tier {
        self.tiers.tier(durability)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn forbids_publishing(&self) -> bool {
        self.forbids_publishing
    }

    fn has_maintenance(&self) -> bool {
        self.has_maintenance
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (mut session, server) = connect(options, self.given, self.private)?;
        let pid = server.as_ref().map(Server::pid);
        let ReadBack { version, mut settings, cache } = (self.read_back)(&mut session, options)?;
        self.settings.check_accepted(self.info.id, options, &mut settings)?;
        check_tier(self.info.id, options, &mut settings, cache, |tier, found| {
            self.tiers.for_tier(tier).weaker_settings(found)
        })?;
        let store = (self.store)(session, server, options)?;
        Ok(Opened { store, version, settings, server: pid })
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        (self.store)((self.join)(at)?, None, options)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        (self.check_url)(url)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        (self.remove_left)(url, name)
    }
}
