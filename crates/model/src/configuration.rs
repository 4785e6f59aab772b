//! An engine with other settings, as a column of its own.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// An engine with other settings than embermark gives it: a column of the comparison under a name of
/// its own. What its settings keep is said by who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The engine's id.
    pub engine: String,
    /// Its settings, by the engine's own names.
    pub settings: BTreeMap<String, String>,
}

/// Configurations by name.
pub type Configurations = BTreeMap<String, Configuration>;

impl Configuration {
    /// The settings as an engine is given them, by name.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

impl fmt::Display for Configuration {
    /// `sqlite with cache_size=-2000, journal_mode=DELETE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with ", self.engine)?;
        for (place, (name, value)) in self.settings.iter().enumerate() {
            write!(f, "{}{name}={value}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
