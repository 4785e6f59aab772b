//! How an engine makes the durability tiers: one table, which its adapter applies, reads back and
//! compares.

use std::fmt;

use embermark_model::Durability;

use crate::{EngineError, OpenOptions, Result};

/// How an engine makes a durability tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// By a setting that keeps at least what the tier promises.
    Offered {
        /// What an acknowledged commit survives with this setting.
        effective_durability: Durability,
        /// The setting in the engine's own words.
        setting: &'static str,
        /// Page of the engine's manual that says so. Empty for a reference engine.
        manual: &'static str,
    },
    /// The engine cannot make the tier.
    Unsupported {
        /// The reason.
        why: &'static str,
    },
}

/// An engine's tiers, from the weakest to the strongest, each with the cheapest setting that keeps
/// it.
#[derive(Clone, Copy, Debug)]
pub struct TierTable<T: 'static> {
    /// `none`.
    pub none: TierSetting<T>,
    /// `process`.
    pub process: TierSetting<T>,
    /// `power`.
    pub power: TierSetting<T>,
}

/// Name of a setting, and the values that keep a tier.
pub type ReadBack = (&'static str, &'static [&'static str]);

/// A row of an engine's tier table.
#[derive(Clone, Copy, Debug)]
pub struct TierSetting<T: 'static> {
    /// What an acknowledged commit survives with this setting.
    pub effective_durability: Durability,
    /// What the adapter sets. Only this decides what is kept, with options in `words` where a server
    /// is started with these. It is also used if the tier is unsupported: `embermark durability ID`
    /// then opens the engine with it.
    pub set: T,
    /// The setting in the engine's own words. In a row that keeps less than its tier: why the tier
    /// is unsupported.
    pub words: &'static str,
    /// Page of the engine's manual that says what the setting keeps.
    pub manual: &'static str,
    /// Settings that the engine must report when asked, under its own names: the values that keep
    /// the tier, first the one that is set. Empty if the engine cannot be asked; results then say
    /// '[as set](as_set)'.
    pub read_back: &'static [ReadBack],
    /// Every value that keeps the tier, including more expensive ones: what a configuration may
    /// have and still be of the tier. Empty if that is `read_back`.
    pub at_least: &'static [ReadBack],
}

impl<T> TierTable<T> {
    /// Returns the row of a tier.
    pub const fn for_tier(&self, durability: Durability) -> &TierSetting<T> {
        match durability {
            Durability::None => &self.none,
            Durability::Process => &self.process,
            Durability::Power => &self.power,
        }
    }

    /// Returns how the engine makes a tier. A row that keeps less than the tier makes it
    /// unsupported.
    pub const fn tier(&self, durability: Durability) -> Tier {
        let row = self.for_tier(durability);
        if (row.effective_durability as u8) < durability as u8 {
            return Tier::Unsupported { why: row.words };
        }
        Tier::Offered {
            effective_durability: row.effective_durability,
            setting: row.words,
            manual: row.manual,
        }
    }
}

impl<T> TierSetting<T> {
    /// Creates a row for an engine that does not report its settings.
    pub const fn new(
        effective_durability: Durability,
        set: T,
        words: &'static str,
        manual: &'static str,
    ) -> Self {
        Self { effective_durability, set, words, manual, read_back: &[], at_least: &[] }
    }

    /// Adds the settings that the engine reports back.
    #[must_use]
    pub const fn reads(self, read_back: &'static [ReadBack]) -> Self
    where
        T: Copy,
    {
        Self { read_back, ..self }
    }

    /// Adds further values that keep the tier.
    #[must_use]
    pub const fn or_at_least(self, at_least: &'static [ReadBack]) -> Self
    where
        T: Copy,
    {
        Self { at_least, ..self }
    }

    /// Returns those of the engine's reported settings that keep the tier.
    pub fn filter_settings(&self, settings: Vec<(String, String)>) -> Vec<(String, String)> {
        let keeps = |name: &str| self.read_back.iter().any(|(known, _)| *known == name);
        settings.into_iter().filter(|(name, _)| keeps(name)).collect()
    }

    /// Returns how the engine's reported settings differ from the row, if they do.
    pub fn weaker_settings(&self, settings: &[(String, String)]) -> Option<WeakerSettings> {
        weaker_settings(self.read_back, settings)
    }

    /// Compares the engine's reported settings with the row of the tier that it was opened with. A
    /// difference is not an error for a configuration. If its known values do not keep the tier,
    /// that is added to the settings ([`OWN_DURABILITY`]).
    ///
    /// # Errors
    /// If a setting is weaker than the row's, or was not reported: the tier would not be kept.
    pub fn check_settings(
        &self,
        engine: &'static str,
        options: &OpenOptions,
        settings: &mut Vec<(String, String)>,
    ) -> Result<()> {
        let has_more = !options.settings.is_empty() && !self.at_least.is_empty();
        let values = if has_more { self.at_least } else { self.read_back };
        weaker_settings(values, settings)
            .map_or(Ok(()), |weaker| weaker.check_configured(engine, options, settings))
    }
}

/// Returns the settings that have none of these values.
fn weaker_settings(values: &[ReadBack], settings: &[(String, String)]) -> Option<WeakerSettings> {
    let weaker = values.iter().filter_map(|(name, values)| {
        let found = settings.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
        let found = found.unwrap_or("unknown");
        let fits = values.iter().any(|good| good.eq_ignore_ascii_case(found));
        (!fits).then(|| Weaker { name, found: found.to_owned(), good: values.join(" or ") })
    });
    let weaker: Vec<Weaker> = weaker.collect();
    (!weaker.is_empty()).then_some(WeakerSettings(weaker))
}

/// Settings that are weaker than a tier's. At least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeakerSettings(Vec<Weaker>);

/// A setting that is weaker than a tier's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Weaker {
    name: &'static str,
    found: String,
    /// What the tier requires.
    good: String,
}

impl WeakerSettings {
    /// Adds the difference to the settings of a configuration, which has its own durability.
    ///
    /// # Errors
    /// If the database has no settings of a configuration: it does not keep its tier.
    pub fn check_configured(
        &self,
        engine: &'static str,
        options: &OpenOptions,
        settings: &mut Vec<(String, String)>,
    ) -> Result<()> {
        let tier = options.durability;
        if options.settings.is_empty() {
            return Err(EngineError::failed(engine, format!("keep the tier '{tier}'"), self));
        }
        let own = self
            .0
            .iter()
            .map(|Weaker { name, found, good }| format!("{name}={found} where {tier} has {good}"));
        let own = own.collect::<Vec<_>>().join("; ");
        settings.push((OWN_DURABILITY.to_owned(), own));
        Ok(())
    }
}

impl fmt::Display for WeakerSettings {
    /// The first weaker setting and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(1).try_for_each(|Weaker { name, found, good }| {
            write!(
                f,
                "it has {name}={found}; set it to {good} there, or choose a weaker tier with \
                 --tier"
            )
        })
    }
}

/// Setting of a server given by URL that says what an acknowledged commit survives there.
pub const EFFECTIVE_DURABILITY: &str = "effective_durability";

/// Setting of a configuration whose durability is not the tier's but as its author states.
pub const OWN_DURABILITY: &str = "own_durability";

/// Suffix of a value as it was set.
pub(crate) const AS_SET: &str = "(as set)";

/// Formats a value as it was set, for an engine that does not report it.
pub fn as_set(value: impl std::fmt::Display) -> String {
    format!("{value} {AS_SET}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_weaker_or_does_not_come_back_is_refused_by_its_name() {
        let row =
            TierSetting::new(Durability::Power, (), "sync=on", "").reads(&[("sync", &["on", "2"])]);
        let options = OpenOptions::new("/nowhere", Durability::Power, 0);
        let check = |settings: &[_]| row.check_settings("toy", &options, &mut settings.to_vec());
        let given = |value: &str| vec![("sync".to_owned(), value.to_owned())];
        assert!(check(&given("ON")).is_ok() && check(&given("2")).is_ok());
        let refused = |settings: &[_]| check(settings).unwrap_err().to_string();
        let error = refused(&given("off"));
        assert!(error.contains("keep the tier 'power'"), "{error}");
        assert!(error.contains("sync=off; set it to on or 2"), "{error}");
        assert!(refused(&[]).contains("sync=unknown"));
    }

    #[test]
    fn a_configuration_that_is_weaker_says_so_and_is_opened() {
        let row =
            TierSetting::new(Durability::Power, (), "sync=on", "").reads(&[("sync", &["on", "2"])]);
        let mut options = OpenOptions::new("/nowhere", Durability::Power, 0);
        options.settings.push(("sync".to_owned(), "off".to_owned()));
        let after = |value: &str| {
            let mut settings = vec![("sync".to_owned(), value.to_owned())];
            row.check_settings("toy", &options, &mut settings).unwrap();
            settings.into_iter().find(|(name, _)| name == OWN_DURABILITY).map(|(_, said)| said)
        };
        assert_eq!(after("off").as_deref(), Some("sync=off where power has on or 2"));
        assert_eq!(after("on"), None, "it is the tier's");
        let cheap =
            TierSetting::new(Durability::Process, (), "sync=off", "").reads(&[("sync", &["off"])]);
        let either = cheap.or_at_least(&[("sync", &["off", "on"])]);
        let check = |row: &TierSetting<()>, options: &OpenOptions| {
            let mut settings = vec![("sync".to_owned(), "on".to_owned())];
            row.check_settings("toy", options, &mut settings).map(|()| settings.len())
        };
        assert_eq!(check(&cheap, &options).unwrap(), 2, "another setting than the tier's");
        assert_eq!(check(&either, &options).unwrap(), 1, "a dearer one keeps it too");
        options.settings.clear();
        assert!(
            check(&either, &options).is_err(),
            "without a configuration it was to be the cheapest"
        );
    }
}
