//! What a disk and its file system say of their wear, before a run and after it.

use serde::{Deserialize, Serialize};

/// Wear of the disk below the databases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wear {
    /// The disk, `/dev/mmcblk0`; absent where no disk of its own is below the databases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// What it, and the file system, count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<WearCounter>,
    /// Why other counters, or all, are not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_counted: Vec<String>,
}

/// One counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WearCounter {
    /// What it counts, `life used`, `bytes written`.
    pub name: String,
    /// Who says it: a file in `/sys`, or a field of smartctl's.
    pub source: String,
    /// In what.
    pub unit: WearUnit,
    /// Its smallest step in that unit: of less it shows nothing.
    pub resolution: f64,
    /// Before the first trial. Of a share in steps the upper end of its step.
    pub before: f64,
    /// After the last one; absent of a run that was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

/// What a counter of wear counts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WearUnit {
    /// Percent of the life that the maker promises.
    #[default]
    Percent,
    /// Bytes.
    Bytes,
    /// A step of a scale of its own, 1 the best.
    Step,
}
