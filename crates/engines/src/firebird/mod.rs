//! `firebird`: Firebird's engine in this process, through its object-oriented interface, from a
//! library loaded at run time.

mod api;
mod blob;
mod check;
mod config;
mod connection;
mod dialect;
mod failure;
mod library;
mod load;
mod message;
mod param;
mod row;
mod script;
mod settings;
mod statement;
mod store;
mod tier;

use embermark_model::result::Counts;
use embermark_model::{CostAnomaly, Explained};

use crate::{Embedded, EngineError, Info, OpenOptions, Opened, Result};
use config::DatabaseConfig;
use failure::Failure;
use library::LIBRARY;
use settings::SETTINGS;
use store::Session;
use tier::tiers;

const NAME: &str = "firebird";

/// Name of the database's file in its folder.
const FILE: &str = "embermark.fdb";

const EXPLAINED: &[Explained] = &[Explained {
    how: CostAnomaly::Lag,
    counts: &[Counts::Start],
    phases: &[],
    why: "an opening makes five files of shared memory anew, and looks up every folder above them",
    evidence: "strace: 1,650 system calls, 560 of them to open files and folders",
    section: "docs/engines/firebird.md#what-measurements-show",
}];

pub(crate) static ENGINE: Embedded<bool> = Embedded {
    library: Some(library::VARIABLE),
    origin: || LIBRARY.origin(library::VARIABLE),
    settings: SETTINGS,
    explained: EXPLAINED,
    ..Embedded::new(
        Info::sql(NAME, "Firebird", "IPL 1.0 and IDPL 1.0"),
        tiers,
        || LIBRARY.availability(|library| library.version.clone()),
        open,
    )
};

fn open(options: &OpenOptions, _: &bool) -> Result<Opened> {
    let library = LIBRARY.get()?;
    let session = Session::open(DatabaseConfig::new(library, options)?)?;
    let settings = session.settings()?;
    let (store, version) = (session.into_store(), library.version.clone());
    Ok(Opened { store, version, settings, server: None })
}

#[cold]
fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
