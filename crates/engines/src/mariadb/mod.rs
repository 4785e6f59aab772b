//! `mariadb`: MariaDB with InnoDB, a private server on a Unix socket, or a database of one given
//! by URL.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that no
//! half of one is ever kept.

mod dialect;
mod given;
mod installation;
mod load;
mod param;
mod private;
mod row;
mod session;
mod settings;
mod store;
mod tier;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::address::{self, Address};
use crate::server::program;
use crate::{
    Availability, Engine, EngineError, Family, Info, Kind, Opened, Result, Site, Store, Tier,
};
use session::Session;
use store::MariaDbStore;

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
            family: Family::Sql,
            licence: "GPL-2.0",
        }
    }

    fn availability(&self) -> Availability {
        program::availability(installation::find().map(|found| found.version))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| {
            [("mariadb-install-db", found.install_db), ("mariadbd", found.mariadbd)].to_vec()
        })
    }

    fn tier(&self, durability: Durability) -> Tier {
        Tier::Offered { keeps: durability, setting: tier::setting(durability).words }
    }

    fn open(&self, site: &Site) -> Result<Opened> {
        let (mut session, server) = match &site.url {
            Some(url) => (given::connect(url)?, None),
            None => {
                let (server, session) = private::start(site)?;
                (session, Some(server))
            }
        };
        let (version, settings) = settings::read_back(&mut session)?;
        tier::check(site.durability, &settings)?;
        let pid = server.as_ref().map(crate::server::Server::pid);
        let store = MariaDbStore::new(session, server);
        Ok(Opened { store: Store::Sql(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, _: &Site, at: &str) -> Result<Store> {
        client(at)
    }
}

/// A further client of a database, reached as its session says.
fn client(at: &str) -> Result<Store> {
    let [database, address] = address::parts(NAME, at)?;
    let could_not = |why: String| EngineError::failed(NAME, "join a database", why);
    let address = Address::from(address);
    let options = match &address {
        Address::Socket(path) => private::options(path),
        Address::Url(url) => given::options(url).map_err(|e| could_not(e.to_string()))?,
    };
    let conn = mysql::Conn::new(options.clone()).map_err(|e| could_not(e.to_string()))?;
    let session = Session::join(conn, &options, database, address)?;
    Ok(Store::Sql(Box::new(MariaDbStore::new(session, None))))
}

fn failed(doing: impl Into<String>, error: &mysql::Error) -> EngineError {
    EngineError::failed(NAME, doing, error)
}
