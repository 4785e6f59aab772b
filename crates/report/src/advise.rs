//! Which engine for whom: criteria made of phases and resources, facts about engines, and a ranking
//! for who says what they need. `docs/advice.md` has the rule.

mod criteria;
mod facts;
mod pool;
mod rank;
mod ratios;
mod render;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use embermark_model::Durability;
use embermark_model::result::ResultFile;
use serde::Serialize;

pub use facts::LicenceClass;
pub use rank::{Advice, BestAt, Left, Needs, Place, UnknownCriterion, Weight, advise};
pub use render::{json, markdown, table as words};

use crate::summary::{self, Comparison, Protocol, Shortfall};
use crate::text;

/// What every engine is and how it compares, by criterion: all that a ranking is made of.
#[derive(Clone, Debug, Serialize)]
pub struct AdviceTable {
    /// What engines are compared by, in the order in which they are shown.
    pub criteria: Vec<Criterion>,
    /// What was measured, for each workload of each tier.
    pub rests_on: Vec<RestsOn>,
    /// Each engine in each tier it was asked for, in the order of the plan.
    pub engines: Vec<EngineAdvice>,
}

/// What the ratios of a tier rest on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestsOn {
    /// The tier.
    pub tier: Durability,
    /// A workload, its scales, and what ran: `sensors 1k, 10k: 6 runs (1 warm-up) x 3 trials`.
    pub says: String,
}

/// Something engines are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name in a table.
    pub label: &'static str,
    /// What it is made of.
    pub about: &'static str,
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
    /// What it is.
    pub facts: Facts,
    /// By criterion: its figure over that of the best, 1 or more; absent where it was not measured.
    pub ratios: BTreeMap<&'static str, f64>,
    /// By criterion: the interval of that ratio; absent where there were fewer than three trials.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// What its cells did not do: those have no place in any criterion.
    pub shortfalls: Vec<String>,
}

/// What an engine is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Its own name for itself.
    pub name: String,
    /// `embedded`, `server` or `reference`.
    pub kind: String,
    /// `SQL`, `key-value`, `document` or `series`; `unknown` in results that do not say.
    pub data_model: String,
    /// Licence of what is linked or started; `unknown` in results that do not say.
    pub licence: String,
    /// What that licence is like.
    pub licence_class: LicenceClass,
    /// Whether its figures may be published.
    pub publishable: bool,
    /// Whether it is spoken to in SQL.
    pub sql: bool,
    /// Whether it is a server that was given by its URL.
    pub by_url: bool,
    /// The most memory it was seen to use in this tier, in bytes; `null` where it was not measured.
    pub peak_bytes: Option<f64>,
}

/// The table of one or several results. Several are taken for one run on one machine with one
/// protocol: [`crate::compare::unpoolable`] tells whether they are.
pub fn table(files: &[&ResultFile]) -> AdviceTable {
    let pooled = pool::pooled(files);
    let Some(file) = pooled.as_deref() else {
        let (rests_on, engines) = (Vec::new(), Vec::new());
        return AdviceTable { criteria: criteria::list(), rests_on, engines };
    };
    let comparison = summary::compare(file, &[]);
    let mut engines: Vec<EngineAdvice> = Vec::new();
    for group in &comparison.groups {
        for engine in &group.engines {
            let (name, tier) = (engine.name(), group.durability);
            if !engines.iter().any(|known| known.engine == name && known.tier == tier) {
                engines.push(EngineAdvice {
                    engine: name,
                    tier,
                    effective_durability: engine.effective_durability,
                    facts: facts::of(file, &comparison, engine, tier),
                    ratios: BTreeMap::new(),
                    intervals: BTreeMap::new(),
                    shortfalls: shortfalls(file, engine.id, tier),
                });
            }
        }
    }
    let tiers = Durability::ALL.map(|tier| (tier, ratios::lines(file, &comparison, tier)));
    for entry in &mut engines {
        let lines = tiers.iter().find(|(tier, _)| *tier == entry.tier).map(|(_, lines)| lines);
        for (criterion, lines) in lines.into_iter().flatten() {
            if let Some((ratio, interval)) = ratios::of(lines, &entry.engine) {
                entry.ratios.insert(criterion, ratio);
                entry.intervals.extend(interval.map(|interval| (*criterion, interval)));
            }
        }
    }
    AdviceTable { criteria: criteria::list(), rests_on: rests_on(file, &comparison), engines }
}

fn rests_on(file: &ResultFile, comparison: &Comparison<'_>) -> Vec<RestsOn> {
    let groups = comparison.groups.iter();
    let all = text::unique(groups.map(|group| (group.durability, group.workload)));
    let of = |(tier, workload): (Durability, &str)| {
        let groups = comparison.groups.iter();
        let groups = groups.filter(|group| (group.durability, group.workload) == (tier, workload));
        let scales: Vec<String> = groups.map(|group| group.extent().to_string()).collect();
        let cells = file.cells.iter();
        let protocol = Protocol::of(
            cells.filter(|cell| (cell.id.durability, &*cell.id.workload) == (tier, workload)),
        )?;
        let says = format!("{} {}: {protocol}", text::plain(workload), scales.join(", "));
        Some(RestsOn { tier, says })
    };
    all.into_iter().filter_map(of).collect()
}

/// `machine 60k individual: write lost 24,261 of 40,000`, for each cell of an engine in a tier.
fn shortfalls(file: &ResultFile, engine: &str, tier: Durability) -> Vec<String> {
    let own =
        file.cells.iter().filter(|cell| (&*cell.id.engine, cell.id.durability) == (engine, tier));
    let short = own.filter_map(|cell| {
        let (id, shortfall) = (&cell.id, Shortfall::of(cell, None)?);
        let place = format!("{} {} {}", id.workload, id.extent(), id.variant);
        Some(format!("{}: {}", text::plain(&place), shortfall.beside(None)))
    });
    short.collect()
}
