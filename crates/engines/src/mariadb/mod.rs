//! `mariadb`: MariaDB with InnoDB, a private server on a Unix socket, or a database of one given
//! by URL, by its own C client, MariaDB Connector/C, from a library that is opened at run time.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that no
//! half of one is ever kept.

mod api;
mod batch;
mod column;
mod connection;
mod dialect;
mod external;
mod failure;
mod handle;
mod installation;
mod library;
mod load;
mod managed;
mod param;
mod query;
mod session;
mod settings;
mod statement;
mod store;
mod target;
mod tier;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::address::{self, Address};
use crate::server::{self, Server, program};
use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result, Store,
    Tier,
};
use failure::Failure;
use library::LIBRARY;
use session::Session;
use store::MariaDbStore;
use target::Target;

/// Its name in errors.
const NAME: &str = "mariadb";

/// The engine.
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
        LIBRARY.beside(program::availability(installation::find().map(|found| found.version)))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| {
            [("mariadb-install-db", found.install_db), ("mariadbd", found.mariadbd)].to_vec()
        })
    }

    fn tier(&self, durability: Durability) -> Tier {
        tier::TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (session, server) = server::connect(options, external::connect, managed::start)?;
        let (version, mut settings) = settings::read_back(&session)?;
        let cache = server::bytes(&settings, "innodb_buffer_pool_size");
        server::check(NAME, options, &mut settings, cache, tier::misfit)?;
        let pid = server.as_ref().map(Server::pid);
        let store = MariaDbStore::new(session, server);
        Ok(Opened { store: Store::Sql(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, _: &OpenOptions, at: &str) -> Result<Store> {
        client(at)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        external::reach(url)?.remove(name)
    }
}

/// A further client of a database, reached as its session says.
fn client(at: &str) -> Result<Store> {
    let [database, address] = address::parts(NAME, at)?;
    let could_not = |why: String| EngineError::failed(NAME, "join a database", why);
    let address = Address::from(address);
    let target = match &address {
        Address::Socket(path) => Target::socket(path),
        Address::Url(url) => Target::of_url(url).map_err(could_not)?,
    };
    let session = Session::connect(LIBRARY.get()?, target, address);
    let session = session.map_err(|failure| could_not(failure.to_string()))?.enter(database)?;
    Ok(Store::Sql(Box::new(MariaDbStore::new(session, None))))
}

fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
