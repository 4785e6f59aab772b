//! `postgres`: PostgreSQL, a private server on a Unix socket, or a schema of one given by URL.
//!
//! A statement that fails inside a transaction ends it: the transaction is rolled back, so that
//! the connection can be used again.

mod copy;
mod dialect;
mod given;
mod installation;
mod numeric;
mod private;
mod row;
mod settings;
mod store;
mod tier;
mod value;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::program;
use crate::{
    Availability, Engine, EngineError, Family, Info, Kind, Opened, Result, Site, Store, Tier,
};
use store::{PostgresStore, Session};

/// Its name in errors.
const NAME: &str = "postgres";

/// The engine.
pub(crate) struct Postgres;

impl Engine for Postgres {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "PostgreSQL",
            kind: Kind::Server,
            family: Family::Sql,
            licence: "PostgreSQL",
        }
    }

    fn availability(&self) -> Availability {
        program::availability(installation::find().map(|found| found.version))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| {
            [("initdb", found.initdb), ("postgres", found.postgres)].to_vec()
        })
    }

    fn tier(&self, durability: Durability) -> Tier {
        Tier::Offered { keeps: durability, setting: tier::setting(durability).words }
    }

    fn open(&self, site: &Site) -> Result<Opened> {
        let (mut session, server) = match &site.url {
            Some(url) => (given::connect(url, site.durability)?, None),
            None => {
                let (server, session) = private::start(site)?;
                (session, Some(server))
            }
        };
        let (version, settings) = settings::read_back(&mut session, site.durability)?;
        tier::check(site.durability, &settings)?;
        let pid = server.as_ref().map(crate::server::Server::pid);
        let store = PostgresStore::new(session, server, site.durability);
        Ok(Opened { store: Store::Sql(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, site: &Site, at: &str) -> Result<Store> {
        let session = Session::join(at, site.durability)?;
        Ok(Store::Sql(Box::new(PostgresStore::new(session, None, site.durability))))
    }
}

/// What the driver says, in full: its own text alone is only "db error".
fn message(error: &postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        let mut text = format!("{} {}: {}", db.severity(), db.code().code(), db.message());
        for more in [db.detail(), db.hint()].into_iter().flatten() {
            text.push_str("; ");
            text.push_str(more);
        }
        return text;
    }
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn failed(doing: impl Into<String>, error: &postgres::Error) -> EngineError {
    EngineError::failed(NAME, doing, message(error))
}
