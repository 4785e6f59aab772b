//! A library's description of its engine, passed between processes.

use embermark_model::Durability;
use serde::{Deserialize, Serialize};

use crate::{Setting, SettingValues, Settings, Tier, TierSetting};

/// A library's description of its engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineDescription {
    /// Id on the command line.
    pub id: String,
    /// Name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence.
    pub licence: String,
    /// Whether it is an SQL engine. Otherwise it is a key-value engine.
    pub answers_sql: bool,
    /// Whether its licence forbids publishing figures.
    pub forbids_publishing: bool,
    /// Whether rows can only be added and read.
    pub appends_only: bool,
    /// Whether it has maintenance.
    pub has_maintenance: bool,
    /// Name of its integrity check in its manual.
    pub check: Option<String>,
    /// Reason that no second process can use its database.
    pub exclusive: Option<String>,
    /// The tiers, from the weakest to the strongest.
    pub(super) tiers: Vec<TierDescription>,
    /// Settings that a user can change.
    pub(super) settings: Vec<SettingDescription>,
}

/// Description of a tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TierDescription {
    pub offer: Offer,
    /// Settings that the engine reports, with the values that keep the tier.
    pub read_back: Vec<(String, Vec<String>)>,
}

/// Whether a tier is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Offer {
    Offered { survives: Durability, setting: String, manual: String },
    Unsupported { why: String },
}

/// Description of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettingDescription {
    pub name: String,
    pub takes: AllowedValues,
    pub by_default: Option<String>,
}

/// Values of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AllowedValues {
    Any,
    Number,
    Word(Vec<String>),
}

impl EngineDescription {
    /// Returns the name of its check, for results.
    pub(super) fn check_name(&self) -> &str {
        self.check.as_deref().unwrap_or("the engine's own check")
    }

    /// Returns the reason that only one process can use its database.
    pub(super) fn why_exclusive(&self) -> &str {
        let default = "the C interface of engine libraries has no client of a second process";
        self.exclusive.as_deref().unwrap_or(default)
    }

    /// Returns its settings. They live as long as the process.
    pub(super) fn leaked_settings(&'static self) -> Settings {
        let setting = |setting: &'static SettingDescription| Setting {
            name: &setting.name,
            takes: match &setting.takes {
                AllowedValues::Any => SettingValues::Any,
                AllowedValues::Number => SettingValues::Number,
                AllowedValues::Word(words) => SettingValues::Word(leak(words)),
            },
            default: setting.by_default.as_deref(),
        };
        let known = self.settings.iter().map(setting).collect::<Vec<_>>().leak();
        Settings { known, ..Settings::NONE }
    }
}

impl TierDescription {
    /// Returns the tier, and the settings to compare once a database is open. They live as long as
    /// the process.
    pub fn leaked_setting(&'static self) -> (Tier, TierSetting<()>) {
        let (tier, effective_durability, words, manual) = match &self.offer {
            Offer::Offered { survives, setting, manual } => {
                let (effective_durability, setting, manual) = (*survives, &**setting, &**manual);
                let tier = Tier::Offered { effective_durability, setting, manual };
                (tier, effective_durability, setting, manual)
            }
            Offer::Unsupported { why } => (Tier::Unsupported { why }, Durability::None, &**why, ""),
        };
        let read_back = self.read_back.iter().map(|(name, values)| (&**name, leak(values)));
        let read_back = read_back.collect::<Vec<_>>().leak();
        (tier, TierSetting::new(effective_durability, (), words, manual).reads(read_back))
    }
}

fn leak(words: &'static [String]) -> &'static [&'static str] {
    words.iter().map(String::as_str).collect::<Vec<_>>().leak()
}
