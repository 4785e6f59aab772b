//! What a disk and its file system report about their wear, before and after a run.

use serde::{Deserialize, Serialize};

/// Wear of the disk below the databases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wear {
    /// The disk, `/dev/mmcblk0`. Absent if the databases are on no disk that can be identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Counters of the disk and the file system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<WearCounter>,
    /// Why other counters, or all, are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_counted: Vec<String>,
}

/// One counter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WearCounter {
    /// Name of what it counts, `life used`, `bytes written`.
    pub name: String,
    /// Where it comes from: a file in `/sys`, or a field of smartctl.
    pub source: String,
    /// Unit.
    pub unit: WearUnit,
    /// Its smallest step in that unit. It does not show less.
    pub resolution: f64,
    /// Value before the first trial. For a share in steps this is the upper end of the step.
    pub before: f64,
    /// Value after the last trial. Absent if the run was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
}

/// Unit of a wear counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WearUnit {
    /// Percent of the life that the manufacturer promises.
    #[default]
    Percent,
    /// Bytes.
    Bytes,
    /// A step of its own scale, on which 1 is the best.
    Step,
}
