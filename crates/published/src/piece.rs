//! A part of a source that one plan carries out.

use std::collections::BTreeMap;
use std::fmt;

use embermark_model::Scale;
use serde::Deserialize;

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What the source did, with its settings.
    AsPublished,
    /// The same work with every engine in one durability tier, as embermark drives it.
    Equal,
    /// One thing otherwise than the source, which explains a figure of it.
    Counter,
    /// What the source did, with no more memory and CPU time than its device had: no measurement of it.
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

/// A part of a source that one plan carries out: engines, variants and a tier that belong together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Piece {
    /// Its name, which no other of the source has: letters, digits and dashes.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// What it does, in a line.
    pub about: String,
    /// In what it differs from the source, or is more than the source states: letters of
    /// [`Source::ours`](crate::Source::ours).
    #[serde(default)]
    pub ours: Vec<String>,
    /// The device that is emulated, as `--device` names it.
    pub device: Option<String>,
    /// Whether the size of a database loaded once is counted, in a trial of its own.
    #[serde(default)]
    pub counting: bool,
    /// What a plan file has, without its scales.
    pub plan: toml::Table,
    /// Its scales, in rows; each can be run by itself.
    pub scales: Vec<u64>,
    /// Seconds that a scale took where docs/reproduction.md was made, by rows. Of one that was not run
    /// there is none.
    #[serde(default)]
    pub took: BTreeMap<String, u64>,
}

impl Piece {
    /// What is expected of a scale, in seconds, where that is known: what it took, or what the next
    /// smaller one took, by the rows; of one below them all what the smallest took.
    pub fn expected(&self, rows: u64) -> Option<u64> {
        let known = |(rows, seconds): (&String, &u64)| Some((rows.parse::<u64>().ok()?, *seconds));
        let known = || self.took.iter().filter_map(known);
        let smaller = known().filter(|(known, _)| *known <= rows).max();
        let (nearest, seconds) = smaller.or_else(|| known().min())?;
        Some(seconds * (rows / nearest.max(1)).max(1))
    }

    /// The name of a scale of it: `duckdb-1M`, or its own where it has one scale.
    pub fn unit(&self, rows: u64) -> String {
        match self.scales.len() {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, Scale::Rows(rows)),
        }
    }
}
