//! An engine with other settings, as its own column.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Client;

/// An engine with settings other than embermark's, in another version, or used from another
/// language. It is a column of the comparison with its own name. The author of its settings states
/// what they keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Configuration {
    /// Id of the engine.
    pub engine: String,
    /// Settings, by the engine's own names.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Absolute path of its library or programs. Absent: those that embermark finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<PathBuf>,
    /// The program that does the timed work instead of embermark. Absent: embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

/// Configurations by name.
pub type Configurations = BTreeMap<String, Configuration>;

impl Configuration {
    /// Makes a configuration that changes nothing: embermark's own settings, library and client.
    pub fn new(engine: impl Into<String>) -> Self {
        Self { engine: engine.into(), settings: BTreeMap::new(), library: None, client: None }
    }

    /// Returns the settings as name and value pairs for the engine.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether it has settings. Their author then states the durability. Another library or a
    /// client does not count.
    pub fn has_settings(&self) -> bool {
        !self.settings.is_empty()
    }

    /// Describes engine and settings, without library and client.
    pub fn subject(&self) -> String {
        Self { library: None, client: None, ..self.clone() }.to_string()
    }
}

impl fmt::Display for Configuration {
    /// Writes `sqlite with cache_size=-2000, journal_mode=DELETE` or `rocksdb with
    /// library=/opt/rocksdb-7.8`.
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
