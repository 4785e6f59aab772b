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
use embermark_model::{CostAnomaly, Durability, Explained};

use crate::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Origin, Result, Settings, Tier,
};
use config::DatabaseConfig;
use failure::Failure;
use library::LIBRARY;
use settings::SETTINGS;
use store::Session;
use tier::TIERS;

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

pub(crate) struct Firebird;

impl Engine for Firebird {
    fn info(&self) -> Info {
        Info::sql(NAME, "Firebird", "IPL 1.0 and IDPL 1.0")
    }

    fn availability(&self) -> Availability {
        LIBRARY.availability(|library| library.version.clone())
    }

    fn library(&self) -> Option<&'static str> {
        Some(library::VARIABLE)
    }

    fn origin(&self) -> Option<Origin> {
        LIBRARY.origin(library::VARIABLE)
    }

    fn tier(&self, durability: Durability) -> Tier {
        tier::for_durability(durability)
    }

    fn explained(&self) -> &'static [Explained] {
        EXPLAINED
    }

    fn settings(&self) -> Settings {
        SETTINGS
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let library = LIBRARY.get()?;
        let config = DatabaseConfig::new(library, options)?;
        let session = Session::open(config)?;
        let mut settings = session.settings()?;
        SETTINGS.check_accepted(NAME, options, &mut settings)?;
        TIERS.for_tier(options.durability).check_settings(NAME, options, &mut settings)?;
        let (store, version) = (session.into_store(), library.version.clone());
        Ok(Opened { store, version, settings, server: None })
    }
}

#[cold]
fn failed(doing: impl Into<String>, failure: &Failure) -> EngineError {
    EngineError::failed(NAME, doing, failure)
}
