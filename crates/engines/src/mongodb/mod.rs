//! `mongodb`: MongoDB as a private server on a Unix socket, or a database on a given server.
//!
//! A key of one field is the document's `_id`. A longer key is a document `_id` with its fields in
//! the key's order. MongoDB compares these value by value
//! (<https://www.mongodb.com/docs/v6.0/reference/bson-type-comparison-order/>), so its own index
//! serves single keys and ranges of them.

mod answer;
mod api;
mod bson;
mod client;
mod command;
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

use crate::server::address::Address;
use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, EngineError, Info, Store};
use failure::Failure;
use library::LIBRARY;
use session::Session;
use store::MongoStore;
use uri::Uri;

const NAME: &str = "mongodb";

pub(crate) static ENGINE: &dyn Engine = &ServerEngine {
    info: Info::server(NAME, "MongoDB", DataModel::Document, "SSPL-1.0"),
    forbids_publishing: false,
    has_maintenance: true,
    tier: |durability| tier::TIERS.tier(durability),
    weaker_settings: |tier, found| tier::TIERS.for_tier(tier).weaker_settings(found),
    settings: settings::SETTINGS,
    explained: &[],
    variable: installation::VARIABLE.name,
    find: || installation::find().map(|found| (vec![("mongod", found.mongod)], found.version)),
    system: None,
    library: |found| LIBRARY.combined_with(found),
    // Without its driver it is unavailable, whatever the URL.
    check_url: |url| match LIBRARY.get() {
        Ok(library) => Uri::new(library, &Address::Url(url.to_owned())).map(drop),
        Err(_) => Ok(()),
    },
    given: Session::given,
    private: managed::start,
    read_back: settings::read_back,
    store: |session, server, options| {
        let waits = tier::waits_for_journal(options, session.is_given);
        let store = MongoStore::new(session, server, waits);
        Ok(Store::Document(Box::new(store)))
    },
    join: |at, _| Session::join(at),
    remove_abandoned: |_| false,
    remove_left: |url, name| Session::reach(url, name)?.remove(),
};

fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
