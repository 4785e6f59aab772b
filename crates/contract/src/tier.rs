//! How an engine makes the durability tiers: one table, which its adapter applies, has read back and
//! compares.

use embermark_model::Durability;

use crate::{EngineError, Result};

/// How an engine makes a durability tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// With a setting that keeps at least what the tier promises.
    Offered {
        /// What an acknowledged commit really survives with it.
        effective_durability: Durability,
        /// The setting in the engine's own words.
        setting: &'static str,
        /// The page of the engine's manual that says so; empty for a reference engine.
        manual: &'static str,
    },
    /// It cannot make it.
    Unsupported {
        /// Why not.
        why: &'static str,
    },
}

/// An engine's tiers, from the weakest to the strongest: the cheapest setting that keeps each.
#[derive(Clone, Copy, Debug)]
pub struct TierTable<T: 'static> {
    /// `none`.
    pub none: TierSetting<T>,
    /// `process`.
    pub process: TierSetting<T>,
    /// `power`.
    pub power: TierSetting<T>,
}

/// A setting by its name, and the values of it that keep a tier.
pub type ReadBack = (&'static str, &'static [&'static str]);

/// A row of an engine's table.
#[derive(Clone, Copy, Debug)]
pub struct TierSetting<T: 'static> {
    /// What an acknowledged commit really survives with it.
    pub effective_durability: Durability,
    /// What the adapter sets: this alone decides what is kept.
    pub set: T,
    /// The same in the engine's own words.
    pub words: &'static str,
    /// The page of the engine's manual that says what it keeps.
    pub manual: &'static str,
    /// What the engine must give back when it is asked: by its own names, the values that keep the
    /// tier, the one that is set first. Empty where nothing can be asked: results then say
    /// '[as set](as_set)'.
    pub read_back: &'static [ReadBack],
}

impl<T> TierTable<T> {
    /// The row of a tier.
    pub const fn of(&self, durability: Durability) -> &TierSetting<T> {
        match durability {
            Durability::None => &self.none,
            Durability::Process => &self.process,
            Durability::Power => &self.power,
        }
    }

    /// What the engine says of a tier.
    pub const fn tier(&self, durability: Durability) -> Tier {
        let row = self.of(durability);
        Tier::Offered {
            effective_durability: row.effective_durability,
            setting: row.words,
            manual: row.manual,
        }
    }
}

impl<T> TierSetting<T> {
    /// A row of an engine that gives nothing back.
    pub const fn of(
        effective_durability: Durability,
        set: T,
        words: &'static str,
        manual: &'static str,
    ) -> Self {
        Self { effective_durability, set, words, manual, read_back: &[] }
    }

    /// The same of one that gives these back.
    #[must_use]
    pub const fn reads(self, read_back: &'static [ReadBack]) -> Self
    where
        T: Copy,
    {
        Self { read_back, ..self }
    }

    /// Where what the engine gave back is weaker than the row: which setting, and what to do.
    pub fn misfit(&self, settings: &[(String, String)]) -> Option<String> {
        self.read_back.iter().find_map(|(name, values)| {
            let found = settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
            let found = found.unwrap_or("unknown");
            let fits = values.iter().any(|good| good.eq_ignore_ascii_case(found));
            let good = values.join(" or ");
            (!fits).then(|| {
                format!(
                    "it has {name}={found}; set it to {good} there, or choose a weaker tier with \
                     --durability"
                )
            })
        })
    }

    /// Compares what the engine gave back with the row, for a `tier` that was asked for.
    ///
    /// # Errors
    /// When a setting is weaker than the row's, or was not given back: the tier would not be kept.
    pub fn check(
        &self,
        engine: &'static str,
        tier: Durability,
        settings: &[(String, String)],
    ) -> Result<()> {
        self.misfit(settings).map_or(Ok(()), |why| {
            Err(EngineError::failed(engine, format!("keep the tier '{tier}'"), why))
        })
    }
}

/// The setting of a server given by URL that says what an acknowledged commit survives there.
pub const EFFECTIVE_DURABILITY: &str = "effective_durability";

/// A value as it was set, of an engine that does not give it back.
pub fn as_set(value: impl std::fmt::Display) -> String {
    format!("{value} (as set)")
}

#[cfg(test)]
mod tests;
