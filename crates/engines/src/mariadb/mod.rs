//! `mariadb`: MariaDB with InnoDB as a private server on a Unix socket, or a database on a given
//! server, through its C client, MariaDB Connector/C, from a library loaded at run time.

mod api;
mod batch;
mod column;
mod connection;
mod dialect;
mod driver;
mod failure;
mod handle;
mod installation;
mod library;
mod load;
mod managed;
mod param;
mod query;
mod reader;
mod session;
mod settings;
mod statement;
mod target;
mod tier;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::{self, Server};
use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Origin, Result,
    Settings, Store, Tier,
};
use crate::{deps, program};
use failure::Failure;
use library::LIBRARY;
use session::Session;
use settings::SETTINGS;
use target::Target;

const NAME: &str = "mariadb";

pub(crate) struct MariaDb;

impl Engine for MariaDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "MariaDB",
            kind: Kind::Server,
            family: DataModel::Sql,
            licence: "GPL-2.0",
        }
    }

    fn availability(&self) -> Availability {
        LIBRARY
            .combined_with(program::availability(installation::find().map(|found| found.version)))
    }

    fn library(&self) -> Option<&'static str> {
        Some(installation::VARIABLE.name)
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| {
            [("mariadb-install-db", found.install_db), ("mariadbd", found.mariadbd)].to_vec()
        })
    }

    fn origin(&self) -> Option<Origin> {
        let (_, program) = self.programs().pop()?;
        Some(deps::origin(NAME, program, Some(installation::VARIABLE.name)))
    }

    fn system(&self) -> Option<Result<PathBuf>> {
        Some(installation::system().map_err(|missing| missing.error(NAME)))
    }

    fn tier(&self, durability: Durability) -> Tier {
        tier::for_version(durability)
    }

    fn settings(&self) -> Settings {
        SETTINGS
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (mut session, server) = server::connect(options, Session::given, managed::start)?;
        let pid = server.as_ref().map(Server::pid);
        session.server = server;
        let (version, mut settings) = settings::read_back(&session, options)?;
        settings::check(options, &settings)?;
        SETTINGS.check_accepted(NAME, options, &mut settings)?;
        let pool = settings.iter().find(|(name, _)| name == "innodb_buffer_pool_size");
        let cache = pool.and_then(|(_, bytes)| bytes.parse().ok());
        server::check_tier(NAME, options, &mut settings, cache, tier::weaker_settings)?;
        Ok(Opened { store: session.into_store(), version, settings, server: pid })
    }

    fn join(&self, _: &OpenOptions, at: &str) -> Result<Store> {
        Session::join(at)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        Target::of_url(url).map(drop)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        Session::reach(url)?.remove(name)
    }
}

fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
