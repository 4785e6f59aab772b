//! The tables that advice is drawn from: every engine, its facts and its ratios by criterion.

use std::collections::BTreeMap;

use embermark_model::{Client, Conditions, Durability};
use serde::Serialize;

use super::{Criterion, CriterionTurn, Facts, Pace};

/// What every engine is and how it compares at one number of rows under the same conditions, by
/// criterion: all that a ranking is made of.
#[derive(Clone, Debug, Serialize)]
pub struct AdviceTable {
    /// At about so many rows: of each workload the nearest scale counts, which `rests_on` names.
    pub rows: u64,
    /// The rows that were asked for; absent where no number was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// Within how much memory, and on which storage.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The language that the engines are used from, `python`; absent: embermark itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The clients of that language, as `embermark run --client` takes them.
    #[serde(skip)]
    pub clients: Vec<String>,
    /// All of it in words: `10k rows`, `10k rows within 256 MiB on sd-a1, python`.
    pub at: String,
    /// What engines are compared by, in the order in which they are shown.
    pub criteria: Vec<Criterion>,
    /// What was measured, for each workload of each tier.
    pub rests_on: Vec<RestsOn>,
    /// Each engine in each tier it was asked for, in the order of the plan.
    pub engines: Vec<EngineAdvice>,
    /// Of each tier that was not measured the command that measures it, a commit a row included.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<Durability, String>,
}

/// What some ratios of a tier rest on: one workload at one scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct RestsOn {
    /// The tier.
    pub tier: Durability,
    /// The workload.
    pub workload: String,
    /// Its scale, and its limit of memory if any.
    pub scale: String,
    /// The rows of that, where they are known.
    pub rows: Option<u64>,
    /// The criteria that it has a part in.
    pub criteria: Vec<&'static str>,
    /// What ran: `6 runs (1 warm-up) x 3 trials`, `…, cold reads`.
    pub protocol: String,
    /// Which bytes `wear` is made of; absent where none were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wear: Option<String>,
}

impl RestsOn {
    /// `sensors 100k`, `sensors 100k within 256 MiB`.
    pub fn place(&self) -> String {
        format!("{} {}", self.workload, self.scale)
    }

    /// How many times ten it is away from a number of rows: above 0 where that is more.
    pub(super) fn decades(&self, rows: u64) -> Option<f64> {
        Some((rows as f64 / self.rows? as f64).log10())
    }
}

impl AdviceTable {
    /// The language that the engines are used from: `native`, `python`.
    pub fn language(&self) -> &str {
        self.client.as_deref().unwrap_or(Client::NATIVE)
    }

    /// Of what these criteria rest on what is no answer for the rows asked for: more than ten times
    /// fewer or more.
    pub fn too_far(&self, tier: Durability, criteria: &[&str]) -> Vec<&RestsOn> {
        let far = |of: &&RestsOn| {
            self.asked.and_then(|rows| of.decades(rows)).is_some_and(|far| far.abs() > 1.0)
        };
        self.resting(tier, criteria).into_iter().filter(far).collect()
    }

    /// What the ratios of these criteria rest on in a tier; without any, all of it.
    pub fn resting(&self, tier: Durability, criteria: &[&str]) -> Vec<&RestsOn> {
        let counts = |of: &&RestsOn| {
            of.tier == tier
                && (criteria.is_empty() || of.criteria.iter().any(|one| criteria.contains(one)))
        };
        self.rests_on.iter().filter(counts).collect()
    }
}

/// One engine in one tier.
#[derive(Clone, Debug, Serialize)]
pub struct EngineAdvice {
    /// Its id, which of a server given by its URL says so.
    pub engine: String,
    /// The tier asked for. Engines are compared inside one alone.
    pub tier: Durability,
    /// The tier that its setting provides, when that is not the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// Where it was tried and broke what the tier promises: what was found, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// What it is.
    pub facts: Facts,
    /// How fast it commits single rows; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// By criterion: its figure over that of the best, 1 or more; absent where it was not measured.
    pub ratios: BTreeMap<&'static str, f64>,
    /// By criterion: the interval of that ratio; absent where there were fewer than three trials.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// By criterion: the same ratio over each workload, by its name and scale.
    pub by_workload: BTreeMap<&'static str, BTreeMap<String, f64>>,
    /// By criterion that it has no ratio in: why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lacks: BTreeMap<&'static str, Vec<String>>,
    /// What its cells did not do: those have no place in any criterion.
    pub shortfalls: Vec<String>,
}

/// Advice at one number of rows after the other, under some conditions after the other.
#[derive(Clone, Debug, Serialize)]
pub struct AdviceTables {
    /// One for each scale that was measured, the smallest first, or the one nearest to the rows
    /// asked for; without a limit of memory and an imitated storage first, then under each of the other
    /// conditions. Of each workload a table rests on the nearest scale under its conditions only. All
    /// of this for each language that engines are used from, embermark itself first.
    pub tables: Vec<AdviceTable>,
    /// Between which scales the order of two engines turns, by criterion.
    pub turns: Vec<CriterionTurn>,
}
