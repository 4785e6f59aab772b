//! What a library says of its engine, as one process tells it to another.

use embermark_model::Durability;
use serde::{Deserialize, Serialize};

use crate::{Setting, Settings, Takes, Tier, TierSetting};

/// What a library says of its engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its name on the command line.
    pub id: String,
    /// Its own name for itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence.
    pub licence: String,
    /// Whether it answers SQL: else it keeps keys and values.
    pub answers_sql: bool,
    /// Whether its licence forbids publishing figures.
    pub forbids_publishing: bool,
    /// Whether its rows are only added and read.
    pub appends_only: bool,
    /// Whether it can be asked for maintenance.
    pub has_maintenance: bool,
    /// Its check, as its manual calls it.
    pub check: Option<String>,
    /// Why no second process can use its database.
    pub exclusive: Option<String>,
    /// How it makes the tiers, from the weakest to the strongest.
    pub(super) tiers: Vec<TierAbout>,
    /// What a user may set.
    pub(super) settings: Vec<SettingAbout>,
}

/// How a tier is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TierAbout {
    pub offer: Offer,
    /// What the engine gives back, by name, and the values that keep the tier.
    pub read_back: Vec<(String, Vec<String>)>,
}

/// Whether a tier is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Offer {
    Offered { survives: Durability, setting: String, manual: String },
    Unsupported { why: String },
}

/// What a user may set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SettingAbout {
    pub name: String,
    pub takes: TakesAbout,
    pub by_default: Option<String>,
}

/// The values of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TakesAbout {
    Any,
    Number,
    Word(Vec<String>),
}

impl About {
    /// Its check, for results.
    pub(super) fn check_name(&self) -> &str {
        self.check.as_deref().unwrap_or("the engine's own check")
    }

    /// Why it is used by one process.
    pub(super) fn why_exclusive(&self) -> &str {
        let alone = "the C interface of engine libraries has no client of a second process";
        self.exclusive.as_deref().unwrap_or(alone)
    }

    /// How a tier is made.
    pub(super) fn tier(&self, durability: Durability) -> &TierAbout {
        &self.tiers[durability as usize]
    }

    /// What a user may set, for as long as the process lives.
    pub(super) fn leaked_settings(&self) -> Settings {
        let setting = |SettingAbout { name, takes, by_default }: &SettingAbout| Setting {
            name: leak(name),
            takes: match takes {
                TakesAbout::Any => Takes::Any,
                TakesAbout::Number => Takes::Number,
                TakesAbout::Word(words) => Takes::Word(words_of(words)),
            },
            default: by_default.as_deref().map(leak),
        };
        let known = self.settings.iter().map(setting).collect::<Vec<_>>().leak();
        Settings { known, ..Settings::NONE }
    }
}

impl TierAbout {
    /// The same for as long as the process lives: what is told of the tier, and what is compared when a
    /// database is open.
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
        let read_back = self.read_back.iter().map(|(name, values)| (leak(name), words_of(values)));
        let read_back = read_back.collect::<Vec<_>>().leak();
        (tier, TierSetting::of(effective, (), words, manual).reads(read_back))
    }
}

fn leak(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn words_of(words: &[String]) -> &'static [&'static str] {
    words.iter().map(|word| leak(word)).collect::<Vec<_>>().leak()
}
