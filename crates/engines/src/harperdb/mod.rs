//! `harperdb`: HarperDB, a private server on a Unix socket in a network namespace of its own, or a
//! database of one given by URL.
//!
//! Its licence lets nobody publish a result of a benchmark without its maker's consent; whether a
//! user accepts it is asked before this module opens anything.

mod cells;
mod dialect;
mod external;
mod filter;
mod installation;
mod key;
mod managed;
mod request;
mod row;
mod session;
mod settings;
mod store;
mod tier;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::{self, Server, program};
use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Result, Store, Tier,
};
use session::Session;
use store::HarperStore;
use tier::TIERS;

/// Its name in errors.
const NAME: &str = "harperdb";

/// The engine.
pub(crate) struct HarperDb;

impl Engine for HarperDb {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "HarperDB",
            kind: Kind::Server,
            family: DataModel::Document,
            licence: "proprietary",
        }
    }

    fn forbids_publishing(&self) -> bool {
        true
    }

    fn availability(&self) -> Availability {
        program::availability(installation::find().map(|found| found.version))
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().ok();
        found.map_or_else(Vec::new, |found| {
            [("node", found.node), ("harperdb.js", found.program)].to_vec()
        })
    }

    fn has_maintenance(&self) -> bool {
        false
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (mut session, server) = server::connect(options, external::connect, managed::start)?;
        let (version, mut settings) = settings::read_back(&mut session)?;
        // It has no cache of its own.
        server::check(NAME, options, &mut settings, None, |tier, found| {
            TIERS.of(tier).misfit(found)
        })?;
        let pid = server.as_ref().map(Server::pid);
        let store = HarperStore::new(session, server);
        Ok(Opened { store: Store::Document(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, _: &OpenOptions, at: &str) -> Result<Store> {
        let store = HarperStore::new(Session::join(at)?, None);
        Ok(Store::Document(Box::new(store)))
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        external::reach(url, name)?.remove()
    }
}
