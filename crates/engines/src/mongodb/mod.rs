//! `mongodb`: MongoDB, a private server on a Unix socket, or a database of one given by URL.
//!
//! A key of one field is the document's `_id`; a longer one is a document `_id` of its fields in
//! the key's order, which MongoDB compares value by value
//! (<https://www.mongodb.com/docs/v6.0/reference/bson-type-comparison-order/>), so that its own
//! index serves single keys and ranges of them.

mod answer;
mod api;
mod batch;
mod bson;
mod client;
mod command;
mod elements;
mod external;
mod failure;
mod installation;
mod library;
mod managed;
mod owned;
mod pipeline;
mod row;
mod session;
mod settings;
mod store;
mod tier;
mod uri;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::{self, Server, program};
use crate::{
    Availability, DataModel, Engine, EngineError, Info, Kind, OpenOptions, Opened, Result, Store,
    Tier,
};
use failure::Failure;
use library::LIBRARY;
use session::Session;
use store::MongoStore;
use tier::TIERS;

/// Its name in errors.
const NAME: &str = "mongodb";

/// The engine.
pub(crate) struct MongoDb;

impl Engine for MongoDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "MongoDB",
            kind: Kind::Server,
            family: DataModel::Document,
            licence: "SSPL-1.0",
        }
    }

    fn availability(&self) -> Availability {
        LIBRARY.beside(program::availability(installation::find().map(|found| found.version)))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| [("mongod", found.mongod)].to_vec())
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (mut session, server) = server::connect(options, external::connect, managed::start)?;
        let (version, mut settings) = settings::read_back(&mut session, options.durability)?;
        let cache = server::bytes(&settings, settings::CACHE);
        server::check(NAME, options, &mut settings, cache, |tier, found| {
            TIERS.of(tier).misfit(found)
        })?;
        let pid = server.as_ref().map(Server::pid);
        let store = MongoStore::new(session, server, options.durability);
        Ok(Opened { store: Store::Document(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        let session = Session::join(at)?;
        let store = MongoStore::new(session, None, options.durability);
        Ok(Store::Document(Box::new(store)))
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        // The session drops its database when it ends.
        let mut session = external::reach(url, name)?;
        session.remove()?;
        session.end()
    }
}

fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
