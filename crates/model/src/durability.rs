//! The three durability tiers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::choice::{self, UnknownName};

/// What an acknowledged commit survives. Ordered: a later tier keeps at least what an earlier one
/// keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Tier"))]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// An acknowledged commit may be lost, or the file damaged, if the process dies.
    None,
    /// Survives the death of the process, but not a power cut.
    Process,
    /// Survives a power cut: synced before the commit returns.
    Power,
}

impl Durability {
    /// All tiers, weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Process, Self::Power];

    /// Returns the tier's name on the command line and in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Power => "power",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Durability {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.name() == text)
            .ok_or_else(|| choice::unknown("tier", text, Self::ALL.map(Self::name)))
    }
}
