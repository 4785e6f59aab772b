//! A server engine, said as one value.

use std::path::PathBuf;

use embermark_model::Durability;

use super::{Server, check, connect};
use crate::deps;
use crate::program::{self, Missing};
use crate::{
    Availability, Engine, Info, OpenOptions, Opened, Origin, Result, Settings, Store, Tier,
    TierTable,
};

/// The programs of an engine by name, and the version that they tell.
pub(crate) type Found = (Vec<(&'static str, PathBuf)>, String);

/// What a server gave back.
pub(crate) struct ReadBack {
    pub version: String,
    pub settings: Vec<(String, String)>,
    /// Bytes of its cache, where it has one.
    pub cache: Option<u64>,
}

/// A server engine whose tiers are a table of what is set; `S` is a session with one database.
pub(crate) struct ServerEngine<T: 'static, S> {
    pub info: Info,
    pub forbids_publishing: bool,
    pub has_maintenance: bool,
    pub tiers: &'static TierTable<T>,
    /// What a configuration may set.
    pub settings: Settings,
    /// The environment variable that says where its programs are.
    pub variable: &'static str,
    /// Finds its programs, its own last.
    pub find: fn() -> std::result::Result<Found, Missing>,
    /// Whether it can run, where its programs were found: it may need a library beside them.
    pub library: fn(Availability) -> Availability,
    /// What is wrong with a URL for its client.
    pub check_url: fn(&str) -> std::result::Result<(), String>,
    /// A session with a server that is given by URL.
    pub given: fn(&str, &OpenOptions) -> Result<S>,
    /// Starts a private server: a session with it.
    pub private: fn(&OpenOptions) -> Result<(Server, S)>,
    pub read_back: fn(&mut S, &OpenOptions) -> Result<ReadBack>,
    /// The store behind a session. Of a private server it ends with the server.
    pub store: fn(S, Option<Server>, &OpenOptions) -> Result<Store>,
    /// A session with a database that another process has opened.
    pub join: fn(&str) -> Result<S>,
    /// Removes what a killed client has left on the server of a URL by that name.
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
        self.settings.taken(self.info.id, options, &mut settings)?;
        check(self.info.id, options, &mut settings, cache, |tier, found| {
            self.tiers.of(tier).misfit(found)
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
