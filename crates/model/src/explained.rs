//! Costs that look like a mistake, and their explanation by an engine's adapter.

use serde::Serialize;

use crate::result::Counts;

/// Kind of an unusual cost of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CostAnomaly {
    /// It grows much faster than the number of rows.
    Growth,
    /// It is many times that of the next engine of the same family.
    Lag,
}

/// Explanation of an unusual cost of an engine whose cause is known and not a mistake of its
/// adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Kind of the unusual cost.
    pub how: CostAnomaly,
    /// Kinds of phases with the unusual cost, in every workload.
    pub counts: &'static [Counts],
    /// Names of further phases with the unusual cost.
    pub phases: &'static [&'static str],
    /// The reason in a few words: `a column store, made for many rows at a time`.
    pub why: &'static str,
    /// The measurement that shows it: a profile, a count or a test.
    pub evidence: &'static str,
    /// Where both are documented: a file and a heading in it,
    /// `docs/engines/duckdb.md#what-measurements-show`.
    pub section: &'static str,
}
