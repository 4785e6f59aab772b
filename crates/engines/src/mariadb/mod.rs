//! `mariadb`: MariaDB with InnoDB as a private server on a Unix socket, or a database on a given
//! server, through its C client, MariaDB Connector/C, from a library loaded at run time.

mod api;
mod batch;
mod column;
mod connection;
mod dialect;
mod driver;
mod failure;
mod handle;
mod installation;
mod library;
mod load;
mod managed;
mod param;
mod reader;
mod session;
mod settings;
mod statement;
mod target;
mod tier;

use crate::server::engine::ServerEngine;
use crate::{DataModel, Engine, EngineError, Info};
use failure::Failure;
use library::LIBRARY;
use session::Session;
use target::Target;

const NAME: &str = "mariadb";

pub(crate) static ENGINE: &dyn Engine = &ServerEngine {
    info: Info::server(NAME, "MariaDB", DataModel::Sql, "GPL-2.0"),
    forbids_publishing: false,
    has_maintenance: true,
    tier: tier::for_version,
    weaker_settings: tier::weaker_settings,
    settings: settings::SETTINGS,
    explained: &[],
    variable: installation::VARIABLE.name,
    find: || {
        let found = installation::find()?;
        let programs = vec![("mariadb-install-db", found.install_db), ("mariadbd", found.mariadbd)];
        Ok((programs, found.version))
    },
    system: Some(installation::system),
    library: |found| LIBRARY.combined_with(found),
    check_url: |url| Target::of_url(url).map(drop),
    given: Session::given,
    private: managed::start,
    read_back: settings::read_back,
    store: |mut session, server, _| {
        session.server = server;
        Ok(session.into_store())
    },
    join: |at, _| Session::join(at),
    remove_abandoned: |_| false,
    remove_left: |url, name| Session::reach(url)?.remove(name),
};

fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
