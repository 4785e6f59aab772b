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

use std::path::{Path, PathBuf};

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Durability, Explained};

use crate::server::{self, Server};
use crate::{
    Availability, DataModel, Engine, Info, Kind, OpenOptions, Opened, Origin, Result, Settings,
    Store, Tier,
};
use crate::{deps, program};
use library::LIBRARY;
use session::Session;
use settings::SETTINGS;
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

pub(crate) struct Postgres;

impl Engine for Postgres {
    fn info(&self) -> Info {
        Info {
            id: NAME,
            name: "PostgreSQL",
            kind: Kind::Server,
            family: DataModel::Sql,
            licence: "PostgreSQL",
        }
    }

    fn availability(&self) -> Availability {
        LIBRARY
            .combined_with(program::availability(installation::find().map(|found| found.version)))
    }

    fn library(&self) -> Option<&'static str> {
        Some(installation::VARIABLE.name)
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        let found = installation::find().into_iter();
        found.flat_map(|found| [("initdb", found.initdb), ("postgres", found.postgres)]).collect()
    }

    fn origin(&self) -> Option<Origin> {
        let (_, program) = self.programs().pop()?;
        Some(deps::origin(NAME, program, Some(installation::VARIABLE.name)))
    }

    fn system(&self) -> Option<Result<PathBuf>> {
        Some(installation::system().map_err(|missing| missing.error(NAME)))
    }

    fn tier(&self, durability: Durability) -> Tier {
        TIERS.tier(durability)
    }

    fn settings(&self) -> Settings {
        SETTINGS
    }

    fn explained(&self) -> &'static [Explained] {
        EXPLAINED
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let (session, server) = server::connect(options, external::connect, managed::start)?;
        opened(NAME, options, session, server)
    }

    fn join(&self, options: &OpenOptions, at: &str) -> Result<Store> {
        Session::join(at, options.durability)
    }

    fn check_url(&self, url: &str) -> std::result::Result<(), String> {
        external::check_url(url)
    }

    fn remove_abandoned(&self, site: &Path) -> bool {
        shared_memory::remove_left(site)
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
        external::remove_left(url, name)
    }
}

/// Returns a session with its settings, which are read back and keep the tier. Errors name the
/// `engine`.
fn opened(
    engine: &'static str,
    options: &OpenOptions,
    mut session: Session,
    server: Option<Server>,
) -> Result<Opened> {
    let pid = server.as_ref().map(Server::pid);
    session.server = server;
    let (version, mut settings) = settings::read_back(&mut session, options)?;
    SETTINGS.check_accepted(engine, options, &mut settings)?;
    let cache = settings::cache(&mut session)?;
    server::check_tier(engine, options, &mut settings, cache, |tier, found| {
        TIERS.for_tier(tier).weaker_settings(found)
    })?;
    Ok(Opened { store: session.into_store(), version, settings, server: pid })
}

/// Returns a message of libpq, which has many lines, on one line.
fn tidy(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}
