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

    /// Returns the description of a tier.
    pub(super) fn tier(&self, durability: Durability) -> &TierDescription {
        &self.tiers[durability as usize]
    }

    /// Returns its settings. They live as long as the process.
    pub(super) fn leaked_settings(&self) -> Settings {
        let setting =
            |SettingDescription { name, takes, by_default }: &SettingDescription| Setting {
                name: leak(name),
                takes: match takes {
                    AllowedValues::Any => SettingValues::Any,
                    AllowedValues::Number => SettingValues::Number,
                    AllowedValues::Word(words) => SettingValues::Word(leak_all(words)),
                },
                default: by_default.as_deref().map(leak),
            };
        let known = self.settings.iter().map(setting).collect::<Vec<_>>().leak();
        Settings { known, ..Settings::NONE }
    }
}

impl TierDescription {
    /// Returns the tier's texts, and the settings to compare once a database is open. They live as
    /// long as the process.
    pub fn leak(&self) -> (Tier, TierSetting<()>) {
        let (tier, effective, words, manual) = match &self.offer {
            Offer::Offered { survives, setting, manual } => {
                let (setting, manual) = (leak(setting), leak(manual));
                let offered = Tier::Offered { effective_durability: *survives, setting, manual };
                (offered, *survives, setting, manual)
            }
            Offer::Unsupported { why } => {
                let why = leak(why);
                (Tier::Unsupported { why }, Durability::None, why, "")
            }
        };
        let read_back = self.read_back.iter().map(|(name, values)| (leak(name), leak_all(values)));
        let read_back = read_back.collect::<Vec<_>>().leak();
        (tier, TierSetting::new(effective, (), words, manual).reads(read_back))
    }
}

fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn leak_all(words: &[String]) -> &'static [&'static str] {
    words.iter().map(|word| leak(word)).collect::<Vec<_>>().leak()
}
