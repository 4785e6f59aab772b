//! Describes an engine by means of a worker process. This process then opens no other library of
//! the engine and survives its crash.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use embermark_engines::{Availability, Engine, OpenOptions, Tier};
use embermark_model::{Configuration, Durability};
use serde::{Deserialize, Serialize};

use crate::request::{EngineQuery, OpenAttempts, Request};
use crate::worker_command::WorkerCommand;
use crate::worker_query::ask_worker;
use crate::{Catalog, HarnessError, Interrupt, engine_library};

/// Cache memory in bytes for a database that is only opened.
const MEMORY: u64 = 16 << 20;

/// Time limit for opening a database in each tier. It is long because a server creates its files.
const PATIENCE: Duration = Duration::from_secs(600);

/// A worker's description of an engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub availability: Availability,
    pub programs: Vec<(String, PathBuf)>,
    /// One per tier.
    pub tiers: Vec<TierOffer>,
    /// Settings of each database that was opened, or why one was not.
    pub opened: Result<Vec<Settings>, String>,
}

type Settings = Vec<(String, String)>;

/// A [`Tier`] in a form that can be sent between processes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TierOffer {
    Offered { effective_durability: Durability, setting: String, manual: String },
    Unsupported { why: String },
}

impl From<Tier> for TierOffer {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Offered { effective_durability, setting, manual } => {
                let (setting, manual) = (setting.to_owned(), manual.to_owned());
                Self::Offered { effective_durability, setting, manual }
            }
            Tier::Unsupported { why } => Self::Unsupported { why: why.to_owned() },
        }
    }
}

impl TierOffer {
    /// Converts it to a tier, whose texts live as long as the process.
    pub fn leak(self) -> Tier {
        match self {
            Self::Offered { effective_durability, setting, manual } => Tier::Offered {
                effective_durability,
                setting: setting.leak(),
                manual: manual.leak(),
            },
            Self::Unsupported { why } => Tier::Unsupported { why: why.leak() },
        }
    }
}

impl EngineQuery {
    /// Answers the request in this process.
    pub fn answer(&self, catalog: &Catalog) -> Result<Facts, HarnessError> {
        let catalog = catalog.with_described(self.engine_library.as_ref())?;
        let engine = catalog.engine(&self.engine)?;
        let availability = engine.availability();
        let is_here = matches!(availability, Availability::Ready { .. });
        let tries = self.tries.iter().filter(|_| is_here);
        let programs = engine.programs().into_iter().map(|(name, path)| (name.to_owned(), path));
        Ok(Facts {
            availability,
            programs: programs.collect(),
            tiers: Durability::ALL.map(|tier| engine.tier(tier).into()).into(),
            opened: tries.flat_map(|tries| tries.settings_of(engine)).collect(),
        })
    }
}

impl OpenAttempts {
    /// Returns the settings that a database in each tier reports.
    fn settings_of(&self, engine: &dyn Engine) -> impl Iterator<Item = Result<Settings, String>> {
        let is_offered =
            |tier: &Durability| !matches!(engine.tier(*tier), Tier::Unsupported { .. });
        self.tiers.iter().copied().filter(is_offered).map(|tier| {
            let folder = self.folder.join(tier.to_string());
            let of_tier =
                |error: &dyn ToString| format!("in the tier '{tier}': {}", error.to_string());
            fs::create_dir(&folder).map_err(|error| of_tier(&error))?;
            let options = OpenOptions::new(folder, tier, MEMORY);
            let opened = engine.open(&OpenOptions { settings: self.settings.clone(), ..options });
            let settings = opened.and_then(|opened| opened.store.close().map(|()| opened.settings));
            settings.map_err(|error| of_tier(&error))
        })
    }
}

/// Asks a worker about the engine of a configuration, with the configuration's library.
pub(crate) fn ask(
    worker: &WorkerCommand,
    catalog: &Catalog,
    name: &str,
    configuration: &Configuration,
    tries: Option<OpenAttempts>,
) -> Result<Facts, HarnessError> {
    let refused = |why: String| HarnessError::Plan(format!("configuration '{name}' {why}"));
    let (parent, engine) = (std::process::id(), configuration.engine.clone());
    let engine_library = engine_library::find(&engine);
    let question = EngineQuery { parent, engine, engine_library, tries };
    let library = catalog.library_of(configuration);
    let request = Request::Facts(Box::new(question));
    let asked = ask_worker(worker, library, &request, (PATIENCE, &Interrupt::default()))
        .map_err(|source| HarnessError::Worker { program: worker.program.clone(), source })?;
    let facts: Facts = serde_json::from_slice(&asked.answer).map_err(|_| {
        let why = asked.no_answer_reason(PATIENCE);
        refused(format!("({configuration}): the process that opened it {why}"))
    })?;
    match (&facts.availability, &configuration.library) {
        (Availability::Missing { why, .. }, Some(library)) => {
            Err(refused(format!("with library={}: {why}", library.display())))
        }
        _ => Ok(facts),
    }
}
