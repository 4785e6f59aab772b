//! Costs that look like a mistake, and what an engine's adapter says of them.

use serde::Serialize;

use crate::result::Counts;

/// How a cost of an engine stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StandsOut {
    /// It grows much faster than the rows do.
    Growth,
    /// It is many times that of the next engine of the same family.
    Lag,
}

/// Why a cost of an engine stands out, where that is known and no mistake of its adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// How it stands out.
    pub how: StandsOut,
    /// The kinds of phases it is so in, of every workload.
    pub counts: &'static [Counts],
    /// Other phases it is so in, by name.
    pub phases: &'static [&'static str],
    /// Why, in some words: `a column store, made for many rows at a time`.
    pub why: &'static str,
    /// The measurement that shows it: a profile, a count or a test.
    pub evidence: &'static str,
    /// Where both are written: a file and a heading in it,
    /// `docs/engines/duckdb.md#what-measurements-show`.
    pub section: &'static str,
}
