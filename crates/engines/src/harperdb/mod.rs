//! `harperdb`: HarperDB, a private server on a Unix socket in a network namespace of its own, or a
//! database of one given by URL.
//!
//! Its licence lets nobody publish a result of a benchmark without its maker's consent; whether a
//! user accepts it is asked before this module opens anything.

mod dialect;
mod filter;
mod given;
mod installation;
mod json;
mod key;
mod private;
mod request;
mod row;
mod session;
mod settings;
mod store;
mod tier;

use std::path::PathBuf;

use embermark_model::Durability;

use crate::server::program;
use crate::{Availability, Engine, Family, Info, Kind, Opened, Result, Site, Store, Tier};
use session::Session;
use store::HarperStore;

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
            family: Family::Document,
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

    fn settles(&self) -> bool {
        false
    }

    fn tier(&self, durability: Durability) -> Tier {
        tier::tier(durability)
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
        let store = HarperStore::new(session, server);
        Ok(Opened { store: Store::Document(Box::new(store)), version, settings, server: pid })
    }

    fn join(&self, _: &Site, at: &str) -> Result<Store> {
        let store = HarperStore::new(Session::join(at)?, None);
        Ok(Store::Document(Box::new(store)))
    }
}
