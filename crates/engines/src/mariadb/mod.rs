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

use embermark_model::Durability;

use crate::{
    Availability, Engine, EngineError, Family, Info, Kind, Opened, Result, Site, Store, Tier,
};
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
        match installation::find() {
            Ok(found) => Availability::Ready { version: found.version },
            Err(missing) => Availability::Missing { why: missing.why, remedy: missing.remedy },
        }
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
}

fn failed(doing: impl Into<String>, error: &mysql::Error) -> EngineError {
    EngineError::failed(NAME, doing, error)
}
