//! `valkey`: Valkey as a private server on a Unix socket, or separate keys on a given server.
//!
//! It has no ordered keys. A table is a string for each row, `NUMBER:KEY`, and a sorted set
//! `NUMBER` of its keys, all with the same score, which the server then sorts as bytes
//! (<https://valkey.io/commands/zrange/>, lexicographical ranges). Both change in one transaction,
//! so the set has exactly the existing keys. `tables` is a hash of the tables' numbers by name.

mod changes;
mod installation;
mod lifecycle;
mod managed;
mod operations;
mod resp;
mod scan;
mod session;
mod settings;
mod snapshot_check;
mod store;
mod tier;
mod uri;

use crate::server::address::Address;
use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, Info, Store};
use session::Session;
use store::ValkeyStore;
use uri::Uri;

const NAME: &str = "valkey";

pub(crate) static ENGINE: &dyn Engine = &ServerEngine {
    info: Info::server(NAME, "Valkey", DataModel::KeyValue, "BSD-3-Clause"),
    forbids_publishing: false,
    has_maintenance: true,
    tier: |durability| tier::TIERS.tier(durability),
    weaker_settings: |tier, found| tier::TIERS.for_tier(tier).weaker_settings(found),
    settings: settings::SETTINGS,
    explained: &[],
    variable: installation::VARIABLE.name,
    find: || {
        installation::find().map(|(path, version)| (vec![(installation::SERVER, path)], version))
    },
    system: None,
    library: |found| found,
    check_url: |url| Uri::new(&Address::Url(url.to_owned())).map(drop),
    given: Session::given,
    private: managed::start,
    read_back: settings::read_back,
    store: |session, server, options| {
        let server = server.map(|server| (server, options.dir.join("server").join(managed::DATA)));
        Ok(Store::Kv(Box::new(ValkeyStore::new(session, server, !options.is_alone()))))
    },
    join: |at, _| Session::join(at),
    remove_abandoned: |_| false,
    remove_left: |url, name| {
        Session::reach(url, name)?.remove().map_err(session::failed("remove its keys"))
    },
};
