//! A part of a source that one plan executes.

use std::collections::BTreeMap;
use std::fmt;

use embermark_model::Scale;
use serde::Deserialize;

/// Purpose of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What the source did, with its settings.
    AsPublished,
    /// The same work with every engine in one durability tier, as embermark runs it.
    Equal,
    /// One difference from the source, which explains one of its figures.
    Counter,
    /// What the source did, with no more memory and CPU time than its device had. This is not a
    /// measurement of the device.
    Emulated,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AsPublished => "as published",
            Self::Equal => "at equal durability",
            Self::Counter => "counter-run",
            Self::Emulated => "emulated",
        })
    }
}

/// A part of a source that one plan executes: engines, variants and a tier that belong together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Piece {
    /// Name, unique in the source: letters, digits and dashes.
    pub name: String,
    /// Purpose.
    pub role: Role,
    /// One-line description.
    pub about: String,
    /// Where it differs from the source or goes beyond it: letters of
    /// [`Source::ours`](crate::Source::ours).
    #[serde(default)]
    pub ours: Vec<String>,
    /// The emulated device, as `--device` names it.
    pub device: Option<String>,
    /// Whether the size of a database loaded once is counted, in a separate trial.
    #[serde(default)]
    pub counting: bool,
    /// Content of a plan file, without its scales.
    pub plan: toml::Table,
    /// Scales in rows. Each can be run by itself.
    pub scales: Vec<u64>,
    /// Seconds that a scale took on the machine of docs/reproduction.md, by number of rows. Absent
    /// for a scale that was not run.
    #[serde(default)]
    pub took: BTreeMap<String, u64>,
}

impl Piece {
    /// Returns the expected time of a scale in seconds, if it is known: what it took, or what the
    /// next smaller one took, scaled by the rows. Below all of them it is what the smallest took.
    pub fn expected(&self, rows: u64) -> Option<u64> {
        let known = |(rows, seconds): (&String, &u64)| Some((rows.parse::<u64>().ok()?, *seconds));
        let known = || self.took.iter().filter_map(known);
        let smaller = known().filter(|(known, _)| *known <= rows).max();
        let (nearest, seconds) = smaller.or_else(|| known().min())?;
        let scaled = u128::from(seconds) * u128::from(rows) / u128::from(nearest.max(1));
        Some(u64::try_from(scaled).unwrap_or(u64::MAX).max(seconds))
    }

    /// Returns the name of one of its scales: `duckdb-1M`, or its own name if it has one scale.
    pub fn unit(&self, rows: u64) -> String {
        match self.scales.len() {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, Scale::Rows(rows)),
        }
    }
}
