//! The tables that advice is drawn from: every engine, its facts and its ratios by criterion.

use std::collections::BTreeMap;

use embermark_model::{Client, Conditions, Durability};
use serde::Serialize;

use super::line::Lack;
use super::remedy::Planned;
use super::{Criterion, CriterionTurn, Facts, Pace, over_the_best};

/// Every engine with its facts and its ratios by criterion, at one number of rows under one set of
/// conditions: the basis of a ranking.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AdviceTable {
    /// The approximate number of rows. For each workload the nearest scale counts, named in `rests_on`.
    pub rows: u64,
    /// The requested number of rows; absent if none was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// The memory limit and the storage.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// The language that the engines are used from, `python`; absent for embermark itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The clients of that language, as `embermark run --client` takes them.
    #[serde(skip)]
    pub clients: Vec<String>,
    /// The name of the imitated network link that servers were behind.
    #[serde(skip)]
    pub network: Option<String>,
    /// The workloads at the scales of the table, measured or not.
    #[serde(skip)]
    pub(super) planned: Vec<Planned>,
    /// The option of a run that decides more of the order: `--for 30m`.
    #[serde(skip)]
    pub longer: String,
    /// Rows, conditions and language as text: `10k rows`, `10k rows within 256 MiB on sd-a1, python`,
    /// `10k rows, servers over wifi`.
    pub at: String,
    /// The criteria, in the order in which they are shown.
    pub criteria: Vec<Criterion>,
    /// The measurements that the ratios rest on, for each workload of each tier.
    pub rests_on: Vec<RestsOn>,
    /// Each engine in each requested tier, in the order of the plan.
    pub engines: Vec<EngineAdvice>,
    /// For each tier that was not measured, the command that measures it, one commit per row included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<Durability, String>,
}

/// A basis of ratios of a tier: one workload at one scale.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RestsOn {
    /// The tier.
    pub tier: Durability,
    /// The workload.
    pub workload: String,
    /// The scale, and the memory limit if there is one.
    pub scale: String,
    /// The number of rows, if known.
    pub rows: Option<u64>,
    /// The criteria that include this workload.
    pub criteria: Vec<&'static str>,
    /// What ran: `6 runs (1 warm-up) x 3 trials`, `…, cold reads`.
    pub protocol: String,
    /// Which bytes `wear` is made of; absent where none were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<String>,
}

impl RestsOn {
    /// Returns workload and scale: `sensors 100k`, `sensors 100k within 256 MiB`.
    pub fn place(&self) -> String {
        format!("{} {}", self.workload, self.scale)
    }

    /// Returns the distance to a number of rows in powers of ten; positive if `rows` is larger.
    pub(super) fn decades(&self, rows: u64) -> Option<f64> {
        Some((rows as f64 / self.rows? as f64).log10())
    }
}

impl AdviceTable {
    /// Returns the language that the engines are used from: `native`, `python`.
    pub fn language(&self) -> &str {
        self.client.as_deref().unwrap_or(Client::NATIVE)
    }

    /// Finds an engine in a tier.
    pub(crate) fn entry(&self, engine: &str, tier: Durability) -> Option<&EngineAdvice> {
        self.engines.iter().find(|entry| entry.engine == engine && entry.tier == tier)
    }

    /// Whether at least two engines were measured by a criterion in a tier.
    pub(crate) fn compares(&self, tier: Durability, criterion: &str) -> bool {
        let own = self.engines.iter().filter(|entry| entry.tier == tier);
        own.filter(|entry| entry.ratios.contains_key(criterion)).count() > 1
    }

    /// Returns the measurements behind these criteria that are too far from the requested rows: more than
    /// ten times fewer or more.
    pub fn too_far(&self, tier: Durability, criteria: &[&str]) -> Vec<&RestsOn> {
        let far = |of: &&RestsOn| {
            self.asked.and_then(|rows| of.decades(rows)).is_some_and(|far| far.abs() > 1.0)
        };
        self.resting(tier, criteria).into_iter().filter(far).collect()
    }

    /// Leaves engines out of the ratios that answered wrongly or broke the promise of their tier.
    /// The ratios of the others are to the best of the rest. `broken` returns what a test found, if
    /// an engine broke the promise.
    pub(crate) fn leave_out_unfit(&mut self, broken: impl Fn(&EngineAdvice) -> Option<String>) {
        for entry in &mut self.engines {
            entry.broken = broken(entry);
            if entry.broken.is_some() || entry.wrong.is_some() {
                entry.ratios.clear();
                entry.intervals.clear();
                entry.by_workload.clear();
            }
        }
        let mut compared: BTreeMap<(Durability, &'static str), usize> = BTreeMap::new();
        for entry in &self.engines {
            for criterion in entry.ratios.keys() {
                *compared.entry((entry.tier, *criterion)).or_default() += 1;
            }
        }
        // A single engine has nothing to be compared with.
        for entry in &mut self.engines {
            let (tier, words) = (entry.tier, &mut entry.words);
            entry.ratios.retain(|criterion, _| {
                let is_alone = compared[&(tier, *criterion)] < 2;
                words.extend(is_alone.then(|| (*criterion, Lack::Alone.to_string())));
                !is_alone
            });
            entry.intervals.retain(|criterion, _| entry.ratios.contains_key(criterion));
        }
        over_the_best(&mut self.engines);
    }

    /// Returns the measurements behind these criteria in a tier; without criteria, all of them.
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
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "AdviceEngine"))]
pub struct EngineAdvice {
    /// The engine's id, which also marks a server given by its URL.
    pub engine: String,
    /// The requested tier. Only engines in one tier are compared.
    pub tier: Durability,
    /// The tier that its setting provides, if it differs from the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_durability: Option<Durability>,
    /// What a test found, if the engine broke what the tier promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Where it answered wrongly. It is then not recommended for anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// Facts about the engine.
    pub facts: Facts,
    /// Its rate of single-row commits; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
    /// By criterion: its figure divided by the best engine's, 1 or more; absent if not measured.
    pub ratios: BTreeMap<&'static str, f64>,
    /// By criterion: the interval of that ratio; absent with fewer than three trials.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// By criterion: the same ratio for each workload, by name and scale.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_workload: BTreeMap<&'static str, BTreeMap<String, f64>>,
    /// By criterion without a ratio: the reasons.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lacks: BTreeMap<&'static str, Vec<String>>,
    /// By criterion without a ratio: a word for the reason, such as `failed`. Absent: not measured.
    #[serde(skip)]
    pub words: BTreeMap<&'static str, String>,
    /// Work that its cells did not do. Those cells are in no criterion.
    pub shortfalls: Vec<String>,
}

/// The tables for each number of rows under each set of conditions.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AdviceTables {
    /// One per measured scale, the smallest first, or the one nearest to the requested rows. Tables
    /// without a memory limit and an imitated storage come first, then those of each other set of
    /// conditions. A table rests on the nearest scale of each workload under its conditions. All of this
    /// is repeated for each language that engines are used from, embermark itself first.
    pub tables: Vec<AdviceTable>,
    /// The scales between which the order of two engines changes, by criterion.
    pub turns: Vec<CriterionTurn>,
}
