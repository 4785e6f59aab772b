//! An embedded engine described by one value.

use std::path::PathBuf;

use embermark_model::{Durability, Explained};

use crate::{
    Availability, Engine, EngineError, Info, OpenOptions, Opened, Origin, Result, Settings, Store,
    Tier, TierTable,
};

/// An embedded engine whose tiers are a table of settings. [`Embedded::new`] has the values of the
/// fields in which few engines differ.
pub struct Embedded<T: 'static> {
    /// Description of the engine.
    pub info: Info,
    /// Returns the durability tiers, as the version that runs here keeps them.
    pub tiers: fn() -> TierTable<T>,
    /// Reports whether the engine can run here.
    pub availability: fn() -> Availability,
    /// Opens a database with a tier's settings. The settings that the engine reports are compared
    /// with the tier afterwards.
    pub open: fn(&OpenOptions, &T) -> Result<Opened>,
    /// Environment variable that names the folder of its library ([`Engine::library`]).
    pub library: Option<&'static str>,
    /// Reports where its library comes from ([`Engine::origin`]).
    pub origin: fn() -> Option<Origin>,
    /// Finds the system's own version ([`Engine::system`]).
    pub system: Option<fn() -> Result<PathBuf>>,
    /// Settings that a configuration may change.
    pub settings: Settings,
    /// Costs that are typical of the engine ([`Engine::explained`]).
    pub explained: &'static [Explained],
    /// Opens a second client of a database that another process has open, if the engine allows
    /// that.
    pub join: Option<fn(&OpenOptions, &T) -> Result<Store>>,
    /// Whether rows can only be added and read ([`Engine::is_append_only`]).
    pub is_append_only: bool,
    /// Whether maintenance does anything ([`Engine::has_maintenance`]).
    pub has_maintenance: bool,
    /// Whether its licence forbids publishing results ([`Engine::forbids_publishing`]).
    pub forbids_publishing: bool,
}

impl<T> Embedded<T> {
    /// Describes an engine that is compiled in, has no settings and allows one process at a time.
    pub const fn new(
        info: Info,
        tiers: fn() -> TierTable<T>,
        availability: fn() -> Availability,
        open: fn(&OpenOptions, &T) -> Result<Opened>,
    ) -> Self {
        Self {
            info,
            tiers,
            availability,
            open,
            library: None,
            origin: || Some(Origin::CompiledIn),
            system: None,
            settings: Settings::NONE,
            explained: &[],
            join: None,
            is_append_only: false,
            has_maintenance: true,
            forbids_publishing: false,
        }
    }
}

impl<T> Engine for Embedded<T> {
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
        (self.tiers)().tier(durability)
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn explained(&self) -> &'static [Explained] {
        self.explained
    }

    fn is_append_only(&self) -> bool {
        self.is_append_only
    }

    fn has_maintenance(&self) -> bool {
        self.has_maintenance
    }

    fn forbids_publishing(&self) -> bool {
        self.forbids_publishing
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let tiers = (self.tiers)();
        let tier = tiers.for_tier(options.durability);
        let mut opened = (self.open)(options, &tier.set)?;
        self.settings.check_accepted(self.info.id, options, &mut opened.settings)?;
        tier.check_settings(self.info.id, options, &mut opened.settings).map(|()| opened)
    }

    fn join(&self, options: &OpenOptions, _: &str) -> Result<Store> {
        let what = "a second process at a database that one has open";
        let join = self.join.ok_or_else(|| EngineError::unsupported(self.info.id, what))?;
        join(options, &(self.tiers)().for_tier(options.durability).set)
    }
}
