//! Engines with the settings or the library of a configuration, as a worker describes them. This
//! process then opens no other library of the engine and survives its crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use embermark_engines::{
    Availability, Engine, EngineError, Info, OWN_DURABILITY, OpenOptions, Opened, Tier,
};
use embermark_model::{Configuration, Configurations, Durability, Explained};
use serde::{Deserialize, Serialize};

use crate::outdir::readable_folder;
use crate::protocol::{EngineQuery, OpenAttempts, Request};
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError, Interrupt, Result, engine_library};

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

/// A [`Tier`] in a form that can be sent between processes: its effective durability, its setting
/// and the page of the manual, or why it is not supported.
type TierOffer = Result<(Durability, String, String), String>;

fn offer(tier: Tier) -> TierOffer {
    match tier {
        Tier::Offered { effective_durability, setting, manual } => {
            Ok((effective_durability, setting.to_owned(), manual.to_owned()))
        }
        Tier::Unsupported { why } => Err(why.to_owned()),
    }
}

/// Converts an offer to a tier, whose texts live as long as the process.
fn leak(offer: TierOffer) -> Tier {
    match offer {
        Ok((effective_durability, setting, manual)) => {
            let (setting, manual) = (setting.leak(), manual.leak());
            Tier::Offered { effective_durability, setting, manual }
        }
        Err(why) => Tier::Unsupported { why: why.leak() },
    }
}

impl EngineQuery {
    /// Answers the request in this process.
    pub fn answer(&self, catalog: &Catalog) -> Result<Facts> {
        let catalog = catalog.with_described(self.engine_library.as_ref())?;
        let engine = catalog.engine(&self.engine)?;
        let availability = engine.availability();
        let is_here = matches!(availability, Availability::Ready { .. });
        let tries = self.tries.iter().filter(|_| is_here);
        let programs = engine.programs().into_iter().map(|(name, path)| (name.to_owned(), path));
        Ok(Facts {
            availability,
            programs: programs.collect(),
            tiers: Durability::ALL.map(|tier| offer(engine.tier(tier))).into(),
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
fn ask(
    worker: &WorkerCommand,
    catalog: &Catalog,
    name: &str,
    configuration: &Configuration,
    tries: Option<OpenAttempts>,
) -> Result<Facts> {
    let refused = |why: String| HarnessError::Plan(format!("configuration '{name}' {why}"));
    let engine = configuration.engine.clone();
    let engine_library = engine_library::find(&engine);
    let request = Request::Facts(Box::new(EngineQuery { engine, engine_library, tries }));
    let library = catalog.library_of(configuration);
    let facts: Facts = worker
        .ask(library, &request, (PATIENCE, &Interrupt::default()))?
        .map_err(|why| refused(format!("({configuration}): the process that opened it {why}")))?;
    match (&facts.availability, &configuration.library) {
        (Availability::Missing { why, .. }, Some(library)) => {
            Err(refused(format!("with library={}: {why}", library.display())))
        }
        _ => Ok(facts),
    }
}

/// An engine with a library of its configuration, described by a worker.
struct EngineWithLibrary {
    engine: &'static dyn Engine,
    availability: Availability,
    programs: Vec<(&'static str, PathBuf)>,
    /// In the order of [`Durability::ALL`].
    tiers: Vec<Tier>,
}

impl EngineWithLibrary {
    /// Makes the engine, which lives as long as the process.
    fn leak(engine: &'static dyn Engine, facts: Facts) -> &'static dyn Engine {
        let Facts { availability, programs, tiers, .. } = facts;
        let programs = programs.into_iter().map(|(name, path)| (&*name.leak(), path)).collect();
        let tiers = tiers.into_iter().map(leak).collect();
        Box::leak(Box::new(Self { engine, availability, programs, tiers }))
    }
}

impl Engine for EngineWithLibrary {
    fn info(&self) -> Info {
        self.engine.info()
    }

    fn availability(&self) -> Availability {
        self.availability.clone()
    }

    fn library(&self) -> Option<&'static str> {
        self.engine.library()
    }

    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        self.programs.clone()
    }

    fn tier(&self, durability: Durability) -> Tier {
        let unknown = Tier::Unsupported { why: "its process reported nothing about this tier" };
        self.tiers.get(durability as usize).copied().unwrap_or(unknown)
    }

    fn settings(&self) -> embermark_engines::Settings {
        self.engine.settings()
    }

    fn forbids_publishing(&self) -> bool {
        self.engine.forbids_publishing()
    }

    fn explained(&self) -> &'static [Explained] {
        self.engine.explained()
    }

    fn open(&self, _: &OpenOptions) -> embermark_engines::Result<Opened> {
        let what = "this process, which would open another library: a worker opens it";
        Err(EngineError::unsupported(self.info().id, what))
    }

    fn has_maintenance(&self) -> bool {
        self.engine.has_maintenance()
    }

    fn remove_left(&self, url: &str, name: &str) -> embermark_engines::Result<()> {
        self.engine.remove_left(url, name)
    }
}

impl Catalog {
    /// Adds the engines of configurations that name a library, as workers describe them.
    ///
    /// # Errors
    /// If a worker cannot be asked, or a library does not exist or is not the engine's.
    pub fn with_libraries(
        self,
        configurations: &Configurations,
        worker: &WorkerCommand,
    ) -> Result<Self> {
        let mut configured_engines = Vec::new();
        for (name, own) in configurations.iter().filter(|(_, own)| own.library.is_some()) {
            let facts = ask(worker, &self, name, own, None)?;
            let engine = EngineWithLibrary::leak(self.engine(&own.engine)?, facts);
            configured_engines.push((&*name.clone().leak(), engine));
        }
        Ok(Self { configured_engines: Vec::leak(configured_engines), ..self })
    }
}

/// Opens an empty database of each configuration in each tier, if its engine is installed, to find
/// settings that the engine refuses. Each database has its own process and its own folder in `dir`.
/// Returns remarks about settings whose reported values differ from the tier's. Skips a
/// configuration that only has a client, because it opens like its engine.
///
/// # Errors
/// If an engine refuses a setting, or a library does not exist. The error gives the first one, in
/// the engine's words.
pub fn check_settings(
    all: &Configurations,
    tiers: &[Durability],
    dir: &Path,
    worker: &WorkerCommand,
    catalog: &Catalog,
) -> Result<Vec<String>> {
    let mut says = Vec::new();
    let differs = |own: &Configuration| own.has_settings() || own.library.is_some();
    for (name, configuration) in all.iter().filter(|(_, own)| differs(own)) {
        let folder = readable_folder(dir, "embermark-try-")?;
        let settings = configuration.pairs();
        let (folder, tiers) = (folder.path().to_owned(), tiers.to_owned());
        let tries = OpenAttempts { folder, tiers, settings };
        let facts = ask(worker, catalog, name, configuration, Some(tries))?;
        let refused = |why| HarnessError::Plan(format!("configuration '{name}' {why}"));
        for (known, own) in facts.opened.map_err(refused)?.into_iter().flatten() {
            if known == OWN_DURABILITY {
                says.push(format!(
                    "configuration {name}: {own}: its durability is what its author claims"
                ));
            }
        }
    }
    Ok(says)
}
