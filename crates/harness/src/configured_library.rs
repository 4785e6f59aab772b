//! Engines with a library that their configuration names. Only workers open the library. One of
//! them describes the engine for this process.

use std::path::PathBuf;

use embermark_engines::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Result, Settings, Tier,
};
use embermark_model::{Configurations, Durability, Explained};

use crate::facts::{Facts, TierOffer, ask};
use crate::worker_command::WorkerCommand;
use crate::{Catalog, HarnessError};

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
        let tiers = tiers.into_iter().map(TierOffer::leak).collect();
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

    fn settings(&self) -> Settings {
        self.engine.settings()
    }

    fn forbids_publishing(&self) -> bool {
        self.engine.forbids_publishing()
    }

    fn explained(&self) -> &'static [Explained] {
        self.engine.explained()
    }

    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        let what = "this process, which would open another library: a worker opens it";
        Err(EngineError::unsupported(self.info().id, what))
    }

    fn has_maintenance(&self) -> bool {
        self.engine.has_maintenance()
    }

    fn remove_left(&self, url: &str, name: &str) -> Result<()> {
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
    ) -> std::result::Result<Self, HarnessError> {
        let mut configured_engines = Vec::new();
        for (name, own) in configurations.iter().filter(|(_, own)| own.library.is_some()) {
            let facts = ask(worker, &self, name, own, None)?;
            let engine = EngineWithLibrary::leak(self.engine(&own.engine)?, facts);
            configured_engines.push((&*name.clone().leak(), engine));
        }
        Ok(Self { configured_engines: Vec::leak(configured_engines), ..self })
    }
}
