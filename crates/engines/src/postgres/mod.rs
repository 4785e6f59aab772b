//! `postgres`: PostgreSQL as a private server on a Unix socket, or a schema on a given server. It
//! is reached through its client library, libpq, which is loaded at run time.

mod answer;
mod api;
mod check;
mod connection;
mod copy;
mod dialect;
mod extension;
mod external;
mod features;
mod installation;
mod library;
mod managed;
mod numeric;
mod pipeline;
mod reader;
mod row;
mod session;
mod settings;
mod shared_memory;
mod statement;
mod tier;
pub(crate) mod timescaledb;
mod types;
mod value;

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Explained};

use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, Info};
use library::LIBRARY;
use session::Session;
use tier::TIERS;

const NAME: &str = "postgres";

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[Counts::Start],
    phases: &[],
    why: "a connection is a process of its own, forked and filled with the catalog",
    evidence: "its own pgbench -C takes 7.0 ms a connection, where MariaDB's thread takes 0.25",
    section: "docs/engines/postgres.md#what-measurements-show",
}];

pub(crate) static ENGINE: &dyn Engine = &POSTGRES;

static POSTGRES: ServerEngine<Session> = ServerEngine {
    info: Info::server(NAME, "PostgreSQL", DataModel::Sql, "PostgreSQL"),
    forbids_publishing: false,
    has_maintenance: true,
    tier: |durability| TIERS.tier(durability),
    weaker_settings: |tier, found| TIERS.for_tier(tier).weaker_settings(found),
    settings: settings::SETTINGS,
    explained: EXPLAINED,
    variable: installation::VARIABLE.name,
    find: || {
        let found = installation::find()?;
        Ok((vec![("initdb", found.initdb), ("postgres", found.postgres)], found.version))
    },
    system: Some(installation::system),
    library: |found| LIBRARY.combined_with(found),
    check_url: external::check_url,
    given: external::connect,
    private: managed::start,
    read_back: settings::read_back,
    store: |mut session, server, _| {
        session.server = server;
        Ok(session.into_store())
    },
    join: |at, options| Session::join(at, options.durability),
    remove_abandoned: shared_memory::remove_left,
    remove_left: external::remove_left,
};

/// Returns a message of libpq, which has many lines, on one line.
fn tidy(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
