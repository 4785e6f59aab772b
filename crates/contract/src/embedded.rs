//! An embedded engine described by one value.

use std::path::PathBuf;

use embermark_model::{Durability, Explained};

use crate::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Origin, Result, Settings, Store,
    Tier, TierTable,
};

/// An embedded engine whose tiers are a table of settings.
pub struct Embedded<T: 'static> {
    /// Description of the engine.
    pub info: Info,
    /// Durability tiers.
    pub tiers: TierTable<T>,
    /// Reports whether the engine can run here.
    pub availability: fn() -> Availability,
    /// Environment variable that names the folder of its library ([`Engine::library`]).
    pub library: Option<&'static str>,
    /// Reports where its library comes from ([`Engine::origin`]).
    pub origin: fn() -> Option<Origin>,
    /// Finds the system's own version ([`Engine::system`]).
    pub system: Option<fn() -> Result<PathBuf>>,
    /// Opens a database with a tier's settings. The settings that the engine reports are compared
    /// with the tier afterwards.
    pub open: fn(&OpenOptions, &T) -> Result<Opened>,
    /// Settings that a configuration may change.
    pub settings: Settings,
    /// Costs that are typical of the engine ([`Engine::explained`]).
    pub explained: &'static [Explained],
    /// Opens a second client of a database that another process has open, if the engine allows
    /// that.
    pub join: Option<fn(&OpenOptions, &T) -> Result<Store>>,
}

impl<T: Sync> Engine for Embedded<T> {
    fn info(&self) -> Info {
        self.info
    }

    fn availability(&self) -> Availability {
        (self.availability)()
    }

    fn library(&self) -> Option<&'static str> {
        self.library
    }

    fn origin(&self) -> Option<Origin> {
        (self.origin)()
    }

    fn system(&self) -> Option<Result<PathBuf>> {
        self.system.map(|system| system())
    }

    fn tier(&self, durability: Durability) -> Tier {
        self.tiers.tier(durability)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn explained(&self) -> &'static [Explained] {
        self.explained
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let tier = self.tiers.for_tier(options.durability);
        let mut opened = (self.open)(options, &tier.set)?;
        self.settings.check_accepted(self.info.id, options, &mut opened.settings)?;
        tier.check_settings(self.info.id, options, &mut opened.settings).map(|()| opened)
    }

    fn join(&self, options: &OpenOptions, _: &str) -> Result<Store> {
        let what = "a second process at a database that one has open";
        let join = self.join.ok_or_else(|| EngineError::unsupported(self.info.id, what))?;
        join(options, &self.tiers.for_tier(options.durability).set)
    }
}
