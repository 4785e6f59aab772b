//! An engine with other settings, as a column of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Client;

/// An engine with other settings than embermark gives it, of another version, or used from another language: a column
/// of the comparison under a name of its own. What its settings keep is said by who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Configuration {
    /// The engine's id.
    pub engine: String,
    /// Its settings, by the engine's own names.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Where its library or its programs are, an absolute path; absent: those that embermark finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<PathBuf>,
    /// The program that does the timed work in place of embermark; absent: embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

/// Configurations by name.
pub type Configurations = BTreeMap<String, Configuration>;

impl Configuration {
    /// An engine as embermark sets it, finds it and uses it.
    pub fn of(engine: impl Into<String>) -> Self {
        Self { engine: engine.into(), settings: BTreeMap::new(), library: None, client: None }
    }

    /// The settings as an engine is given them, by name.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether it has settings, whose durability is as its author says: not where it only has another
    /// library or a client.
    pub fn has_settings(&self) -> bool {
        !self.settings.is_empty()
    }

    /// Engine and settings, wherever the library is and whichever client uses it.
    pub fn subject(&self) -> String {
        Self { library: None, client: None, ..self.clone() }.to_string()
    }
}

impl fmt::Display for Configuration {
    /// `sqlite with cache_size=-2000, journal_mode=DELETE`, `rocksdb with library=/opt/rocksdb-7.8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.engine)?;
        let library = self.library.as_ref().map(|path| format!("library={}", path.display()));
        let settings = self.settings.iter().map(|(name, value)| format!("{name}={value}"));
        let client = self.client.as_ref().map(|client| format!("client={client}"));
        for (place, word) in client.into_iter().chain(library).chain(settings).enumerate() {
            write!(f, "{}{word}", if place > 0 { ", " } else { " with " })?;
        }
        Ok(())
    }
}
