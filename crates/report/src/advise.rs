//! Which engine for whom: criteria made of phases and resources, facts about engines, and a ranking
//! for who says what they need. `docs/advice.md` has the rule.

mod brief;
mod clients;
mod criteria;
mod devices;
mod facts;
mod levels;
mod meant;
mod pace;
pub(crate) mod pick;
mod pool;
pub(crate) mod presets;
mod rank;
mod ratios;
mod remedy;
mod render;
mod turns;
mod used;
mod wear;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;
use embermark_model::{Client, Conditions, Durability};
use serde::Serialize;

pub use brief::brief;
pub(crate) use criteria::example;
pub use devices::OverDevices;
pub use facts::LicenceClass;
pub use pace::Pace;
pub use pick::Pick;
pub use presets::Preset;
pub use rank::{Advice, BestAt, Left, Needs, Place, UnknownCriterion, Weight, advise, at_each};
pub use render::{json, markdown, words};
pub use turns::CriterionTurn;

use crate::statistics;
use crate::summary::{self, Comparison, Group, Protocol, Shortfall};
use crate::{notes, scaling, text};
use clients::Language;
use levels::Level;

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
    /// Of a configuration: the engine and the settings. Its durability is as its author says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Of a configuration: in what its settings are not the tier's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// The most memory it was seen to use in this tier at these scales, in bytes; `null` where it
    /// was not measured.
    pub peak_bytes: Option<f64>,
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

/// The tables of one or several results: one for each scale measured, or the one nearest to `rows`,
/// under each of these conditions that was measured; without any, under each there is. Columns of
/// different languages are never in one table: a program in Python cannot take what only Rust has.
/// Several results are taken for one run on one machine with one protocol:
/// [`crate::compare::unpoolable`] tells whether they are.
pub fn tables(files: &[&ResultFile], rows: Option<u64>, conditions: &[Conditions]) -> AdviceTables {
    let pooled = pool::pooled(files);
    let Some(file) = pooled.as_deref() else {
        return AdviceTables { tables: Vec::new(), turns: Vec::new() };
    };
    let mut all = AdviceTables { tables: Vec::new(), turns: Vec::new() };
    let mut languages = clients::by_language(file);
    if languages.iter().any(|own| own.has_cells(conditions)) {
        languages.retain(|own| own.has_cells(conditions));
    }
    for language in &languages {
        let own = of_columns(language, rows, conditions);
        all.tables.extend(own.tables);
        all.turns.extend(own.turns);
    }
    all
}

/// The tables of one result, whatever language its columns are used from.
pub(crate) fn of_all_columns(file: &ResultFile, conditions: &[Conditions]) -> AdviceTables {
    of_columns(&Language::all(file), None, conditions)
}

fn of_columns(
    language: &Language<'_>,
    rows: Option<u64>,
    conditions: &[Conditions],
) -> AdviceTables {
    let file = &*language.file;
    let comparison = summary::compare(file, &[]);
    let levels = levels::of(&comparison, rows, conditions);
    let mut turns = turns::of(&scaling::of(file, &comparison, &[]), &comparison.kinds);
    turns.retain(|turn| levels.iter().any(|level| level.conditions == turn.conditions));
    turns.iter_mut().for_each(|turn| turn.client.clone_from(&language.name));
    let tables = levels.iter().map(|level| table(language, &comparison, level, rows));
    AdviceTables { tables: tables.collect(), turns }
}

/// Sets ratios to the best engine of a tier: over several workloads nobody may be the best of each, and the mean of
/// the ratios to these is above 1 for everybody.
fn over_the_best(engines: &mut [EngineAdvice]) {
    let mut best: BTreeMap<(Durability, &'static str), f64> = BTreeMap::new();
    let competes = |entry: &&EngineAdvice| {
        let facts = &entry.facts;
        facts.kind != "reference" && !facts.by_url && facts.own_durability.is_none()
    };
    for entry in engines.iter().filter(competes) {
        for (criterion, ratio) in &entry.ratios {
            let known = best.entry((entry.tier, *criterion)).or_insert(*ratio);
            *known = known.min(*ratio);
        }
    }
    for entry in engines {
        for (criterion, ratio) in &mut entry.ratios {
            let Some(best) = best.get(&(entry.tier, *criterion)) else { continue };
            *ratio /= best;
            if let Some(interval) = entry.intervals.get_mut(criterion) {
                *interval = statistics::to_the_best(interval.map(|end| end / best));
            }
        }
    }
}

fn table<'a>(
    language: &'a Language<'_>,
    comparison: &Comparison<'a>,
    Level { rows, conditions, groups }: &Level<'a, '_>,
    asked: Option<u64>,
) -> AdviceTable {
    let file = &*language.file;
    let kinds = &comparison.kinds;
    let mut engines: Vec<EngineAdvice> = Vec::new();
    for group in &comparison.groups {
        for engine in &group.engines {
            let (name, tier) = (engine.name(), group.durability);
            if !engines.iter().any(|known| known.engine == name && known.tier == tier) {
                engines.push(EngineAdvice {
                    engine: name,
                    tier,
                    effective_durability: engine.effective_durability,
                    broken: None,
                    facts: facts::of(file, groups, engine, tier),
                    pace: pace::of(file, groups, kinds, (engine.id, tier)),
                    ratios: BTreeMap::new(),
                    intervals: BTreeMap::new(),
                    by_workload: BTreeMap::new(),
                    lacks: BTreeMap::new(),
                    shortfalls: shortfalls(file, groups, engine.id, tier),
                });
            }
        }
    }
    let tiers = Durability::ALL.map(|tier| (tier, ratios::lines(file, groups, kinds, tier)));
    for entry in &mut engines {
        let lines = tiers.iter().find(|(tier, _)| *tier == entry.tier).map(|(_, lines)| lines);
        for (criterion, lines) in lines.into_iter().flatten() {
            let standing = ratios::of(lines, &entry.engine);
            if let Some((ratio, interval)) = standing.ratio {
                entry.ratios.insert(criterion, ratio);
                entry.intervals.extend(interval.map(|interval| (*criterion, interval)));
            }
            if !standing.by_workload.is_empty() {
                let place = |(workload, ratio)| Some((place(groups, entry.tier, workload)?, ratio));
                let all = standing.by_workload.into_iter().filter_map(place).collect();
                entry.by_workload.insert(criterion, all);
            }
            if !standing.lacks.is_empty() {
                entry.lacks.insert(criterion, standing.lacks);
            }
        }
    }
    over_the_best(&mut engines);
    let made_of = |group: &Group<'_>| -> Vec<&'static str> {
        let own = tiers.iter().filter(|(tier, _)| *tier == group.durability);
        let lines = own.flat_map(|(_, lines)| lines);
        let has = |lines: &[ratios::Line<'_>]| lines.iter().any(|l| l.workload == group.workload);
        lines.filter(|(_, lines)| has(lines)).map(|(criterion, _)| *criterion).collect()
    };
    let rests_on = groups.iter().filter_map(|group| rests_on(file, group, made_of(group)));
    let mut table = AdviceTable {
        rows: *rows,
        asked,
        conditions: *conditions,
        client: language.name.clone(),
        clients: language.clients.clone(),
        at: levels::at(*rows, *conditions, language.name.as_deref()),
        criteria: criteria::list(),
        rests_on: rests_on.collect(),
        engines,
        commands: BTreeMap::new(),
    };
    let measured = |tier: &Durability| table.engines.iter().any(|entry| entry.tier == *tier);
    let missing = Durability::ALL.into_iter().filter(|tier| !measured(tier));
    let of_ingest = criteria::workloads("ingest");
    let ingest = table.rests_on.iter().any(|of| of_ingest.contains(&of.workload.as_str()));
    let weighted: &[&str] = if ingest { &["ingest"] } else { &[] };
    let command = |tier| (tier, remedy::command(&table, tier, weighted));
    table.commands = missing.map(command).collect();
    table
}

/// `sensors 100k`, of the group of a workload in a tier.
fn place(groups: &[&Group<'_>], tier: Durability, workload: &str) -> Option<String> {
    let is = |group: &&&Group<'_>| (group.workload, group.durability) == (workload, tier);
    groups.iter().find(is).map(|group| group.place())
}

/// `None` of a group in which nothing ended well.
fn rests_on(file: &ResultFile, group: &Group<'_>, criteria: Vec<&'static str>) -> Option<RestsOn> {
    let protocol = Protocol::of(file.cells.iter().filter(|cell| group.holds(&cell.id)))?;
    let cold = if file.plan.cold { ", cold reads" } else { "" };
    let energy = notes::energy::source(file).filter(|_| criteria.contains(&"energy"));
    let energy = energy.map(|by| format!(", energy by {by}")).unwrap_or_default();
    Some(RestsOn {
        tier: group.durability,
        workload: text::plain(group.workload),
        scale: group.extent().to_string(),
        rows: group.row_count(),
        criteria,
        protocol: format!("{protocol}{cold}{energy}"),
        wear: wear::source(file, group),
    })
}

/// `machine 60k individual: write lost 24,261 of 40,000`, for each cell of an engine in a tier.
fn shortfalls(
    file: &ResultFile,
    groups: &[&Group<'_>],
    engine: &str,
    tier: Durability,
) -> Vec<String> {
    let own = file.cells.iter().filter(|cell| {
        (&*cell.id.engine, cell.id.durability) == (engine, tier)
            && groups.iter().any(|group| group.holds(&cell.id))
    });
    let short = own.filter_map(|cell| {
        let (id, shortfall) = (&cell.id, Shortfall::of(cell, None)?);
        let place = format!("{} {} {}", id.workload, id.extent(), id.variant);
        Some(format!("{}: {}", text::plain(&place), shortfall.beside(None)))
    });
    short.collect()
}
