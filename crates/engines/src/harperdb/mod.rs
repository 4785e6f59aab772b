//! `harperdb`: HarperDB, as a private server on a Unix socket in a network namespace of its own, or
//! as a database on a server given by URL.
//!
//! Its licence forbids publishing the result of a benchmark without its maker's consent. The user
//! is asked to accept the licence before this module opens anything.

mod cells;
mod dialect;
mod filter;
mod installation;
mod key;
mod managed;
mod request;
mod rest;
mod row;
mod session;
mod settings;
mod store;
mod tier;

use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, Info, Store};
use session::Session;
use store::HarperStore;

const NAME: &str = "harperdb";

pub(crate) static ENGINE: &dyn Engine = &ServerEngine {
    info: Info::server(NAME, "HarperDB", DataModel::Document, "proprietary"),
    forbids_publishing: true,
    has_maintenance: false,
    settings: rest::SETTINGS,
    explained: &[],
    tier: |durability| tier::TIERS.tier(durability),
    weaker_settings: |tier, found| tier::TIERS.for_tier(tier).weaker_settings(found),
    variable: installation::VARIABLE.name,
    find: || {
        let found = installation::find()?;
        Ok((vec![("node", found.node), ("harperdb.js", found.program)], found.version))
    },
    system: None,
    library: |found| found,
    check_url: |url| session::client(url, "").map(drop),
    given: Session::given,
    private: managed::start,
    read_back: |session, _| settings::read_back(session),
    store: |session, server, _| Ok(Store::Document(Box::new(HarperStore::new(session, server)))),
    join: |at, _| Session::join(at),
    remove_abandoned: |_| false,
    remove_left: |url, name| Session::reach(url, name)?.remove(),
};
