//! Recommends engines. Builds criteria from phases and resources, collects facts about engines, and
//! ranks them by the user's needs and weights. `docs/advice.md` explains the rule.

mod brief;
mod clients;
mod criteria;
mod devices;
mod facts;
mod levels;
mod line;
mod pace;
pub(crate) mod pick;
mod pool;
pub(crate) mod presets;
mod rank;
mod ratios;
mod remedy;
mod render;
mod resource_lines;
mod table;
mod turns;
mod wear;
mod weight_meaning;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use embermark_model::result::{Cell, ResultFile};
use embermark_model::{Conditions, Durability, Status};

pub use brief::brief;
pub use criteria::Criterion;
pub(crate) use criteria::example;
pub use devices::FleetAdvice;
pub use facts::{Facts, LicenceClass};
pub use pace::Pace;
pub use pick::Pick;
pub use presets::Preset;
pub use rank::{Advice, BestAt, Left, Needs, Place, UnknownCriterion, Weight, advise, advise_each};
pub use render::{json, markdown, words};
pub use table::{AdviceTable, AdviceTables, EngineAdvice, RestsOn};
pub use turns::CriterionTurn;

use crate::statistics;
use crate::summary::{self, Comparison, Group, Protocol, Shortfall};
use crate::{conditions, notes, scaling, text};
use clients::Language;
use levels::Level;

/// Builds the tables of one or more results under each of `conditions` that was measured. With
/// `rows`, only the nearest measured scale has a table. Without conditions, all measured ones are
/// used. Engines used from different languages are never in one table: a Python program cannot use
/// what only Rust has. Several results are treated as one run on one machine with one protocol.
/// [`crate::compare::unpoolable`] checks that.
pub fn tables(files: &[&ResultFile], rows: Option<u64>, conditions: &[Conditions]) -> AdviceTables {
    let pooled = pool::pooled(files);
    let mut all = AdviceTables { tables: Vec::new(), turns: Vec::new() };
    let Some(file) = pooled.as_deref() else { return all };
    let mut languages = clients::by_language(file);
    if languages.iter().any(|own| own.has_cells(conditions)) {
        languages.retain(|own| own.has_cells(conditions));
    }
    for language in &languages {
        let own = tables_for_columns(language, rows, conditions);
        all.tables.extend(own.tables);
        all.turns.extend(own.turns);
    }
    all
}

/// Builds the tables of one result, with engines used from any language.
pub(crate) fn tables_for_all_columns(file: &ResultFile, conditions: &[Conditions]) -> AdviceTables {
    tables_for_columns(&Language::all(file), None, conditions)
}

fn tables_for_columns(
    language: &Language<'_>,
    rows: Option<u64>,
    conditions: &[Conditions],
) -> AdviceTables {
    let file = &*language.file;
    let comparison = summary::compare(file, &[]);
    let levels = levels::for_conditions(&comparison, rows, conditions);
    let scaling = scaling::analyze(&comparison, &[]);
    let mut turns = turns::criterion_turns(&scaling, &comparison.kinds);
    turns.retain(|turn| levels.iter().any(|level| level.conditions == turn.conditions));
    turns.iter_mut().for_each(|turn| turn.client.clone_from(&language.name));
    let tables = levels.iter().map(|level| table(language, &comparison, level, rows));
    AdviceTables { tables: tables.collect(), turns }
}

/// Divides the ratios by those of the tier's best engine. Over several workloads no engine may be
/// the best in each, and then every mean ratio is above 1.
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
                *interval = statistics::clamp_to_best(interval.map(|end| end / best));
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
    let mut absent: Vec<(String, Durability, &str)> = Vec::new();
    let is_here = |cell: &&Cell| groups.iter().any(|group| group.holds(&cell.id));
    let cells = || file.cells.iter().filter(is_here);
    for group in &comparison.groups {
        for engine in &group.engines {
            let (name, tier) = (engine.name(), group.durability);
            if !engines.iter().any(|known| known.engine == name && known.tier == tier) {
                let own = cells()
                    .filter(|cell| (&*cell.id.engine, cell.id.durability) == (engine.id, tier));
                let own: Vec<&Cell> = own.collect();
                let is_available = own.iter().any(|cell| cell.status != Status::Unavailable);
                if !own.is_empty() && !is_available {
                    let is_left_out = own.iter().all(|cell| cell.is_left_out());
                    let word =
                        if is_left_out { notes::LEFT_OUT } else { Status::Unavailable.name() };
                    absent.push((name.clone(), tier, word));
                }
                engines.push(EngineAdvice {
                    engine: name,
                    tier,
                    effective_durability: engine.effective_durability,
                    broken: None,
                    wrong: wrong_answers(&own),
                    facts: facts::engine_facts(file, &own, engine),
                    pace: pace::slowest_pace(groups, kinds, (engine.id, tier)),
                    ratios: BTreeMap::new(),
                    intervals: BTreeMap::new(),
                    by_workload: BTreeMap::new(),
                    lacks: BTreeMap::new(),
                    words: BTreeMap::new(),
                    shortfalls: own.iter().filter_map(|cell| shortfall(cell)).collect(),
                });
            }
        }
    }
    let tiers = Durability::ALL.map(|tier| (tier, ratios::lines(groups, kinds, tier)));
    let tiers = BTreeMap::from(tiers);
    // Work that ended before its first phase is in no line.
    let failed = |entry: &EngineAdvice, criterion: &str| {
        let mut own = cells().filter(|cell| {
            cell.status.is_failure()
                && cell.id.durability == entry.tier
                && text::plain(&cell.id.engine) == entry.engine
        });
        let of = own.find(|cell| criteria::workloads(criterion).contains(&&*cell.id.workload))?;
        Some(of.status.to_string())
    };
    for entry in &mut engines {
        for (criterion, lines) in &tiers[&entry.tier] {
            let standing = ratios::standing(lines, &entry.engine);
            if let Some((ratio, interval)) = standing.ratio {
                entry.ratios.insert(criterion, ratio);
                entry.intervals.extend(interval.map(|interval| (*criterion, interval)));
            } else if let Some(word) = standing.word.or_else(|| failed(entry, criterion)) {
                entry.words.insert(criterion, word);
            }
            if !standing.by_workload.is_empty() {
                let place = |(workload, ratio)| Some((place(groups, entry.tier, workload)?, ratio));
                let all = standing.by_workload.into_iter().filter_map(place).collect();
                entry.by_workload.insert(criterion, all);
            }
            if !standing.lacks.is_empty() {
                // Of an engine that is not here, one word says it.
                let of = |(name, tier, _): &&(String, Durability, &str)| {
                    (name, *tier) == (&entry.engine, entry.tier)
                };
                let word = absent.iter().find(of).map(|(.., word)| vec![(*word).to_owned()]);
                entry.lacks.insert(criterion, word.unwrap_or(standing.lacks));
            }
        }
    }
    over_the_best(&mut engines);
    let made_of = |group: &Group<'_>| -> Vec<&'static str> {
        let is_of = |l: &line::Line<'_>| l.workload == group.workload && !l.ratios.is_empty();
        let has = |lines: &[line::Line<'_>]| lines.iter().any(is_of);
        let own = tiers[&group.durability].iter().filter(|(_, lines)| has(lines));
        own.map(|(criterion, _)| *criterion).collect()
    };
    let rests_on = groups.iter().filter_map(|group| rests_on(file, group, made_of(group)));
    let network = notes::network::name(file);
    let mut table = AdviceTable {
        rows: *rows,
        asked,
        conditions: *conditions,
        client: language.name.clone(),
        clients: language.clients.clone(),
        at: levels::label(*rows, *conditions, language.name.as_deref(), network.as_deref()),
        network,
        planned: text::unique(groups.iter().map(|group| remedy::Planned::new(group))),
        longer: remedy::longer(&file.plan),
        criteria: criteria::CRITERIA.iter().map(|made| made.criterion).collect(),
        rests_on: rests_on.collect(),
        engines,
        commands: BTreeMap::new(),
    };
    let measured = |tier: &Durability| table.engines.iter().any(|entry| entry.tier == *tier);
    let missing = Durability::ALL.into_iter().filter(|tier| !measured(tier));
    let of_ingest = criteria::workloads("ingest");
    let ingest = table.planned.iter().any(|of| of_ingest.contains(&of.workload.as_str()));
    let weighted: &[&str] = if ingest { &["ingest"] } else { &[] };
    let command = |tier| (tier, remedy::command(&table, tier, weighted));
    table.commands = missing.map(command).collect();
    table
}

/// Returns the workload and scale of the group with this workload and tier: `sensors 100k`.
fn place(groups: &[&Group<'_>], tier: Durability, workload: &str) -> Option<String> {
    let is = |group: &&&Group<'_>| (group.workload, group.durability) == (workload, tier);
    groups.iter().find(is).map(|group| group.place())
}

/// Describes a group as the basis of ratios. `None` if nothing in it completed.
fn rests_on(file: &ResultFile, group: &Group<'_>, criteria: Vec<&'static str>) -> Option<RestsOn> {
    let protocol = Protocol::from_cells(group.cells())?;
    let energy = notes::energy::source(file).filter(|_| criteria.contains(&"energy"));
    let protocol = [protocol.to_string()]
        .into_iter()
        .chain(conditions::of_heading(&file.plan, group.is_paced()))
        .chain(energy.map(|by| format!("energy by {by}")));
    Some(RestsOn {
        tier: group.durability,
        workload: text::plain(group.workload),
        scale: group.extent.to_string(),
        rows: group.row_count(),
        criteria,
        protocol: text::joined(protocol, ", "),
        wear: wear::source(group),
    })
}

/// Describes the shortfall of a cell: `machine 60k individual: write lost 24,261 of 40,000`.
fn shortfall(cell: &Cell) -> Option<String> {
    Some(format!("{}: {}", place_of(cell), Shortfall::find(cell, None)?.words(None)))
}

/// Names the cells that answered wrongly, with their phases: `sensors 10k single: outages`. `None`
/// if all answers were right.
fn wrong_answers(own: &[&Cell]) -> Option<String> {
    let wrong = own.iter().filter(|cell| cell.status == Status::Wrong).map(|cell| {
        let phases = cell.trials.iter().flat_map(|trial| &trial.phases);
        let phases = phases.filter(|part| part.status == Status::Wrong);
        let phases = text::unique(phases.map(|part| text::plain(&part.phase)));
        text::joined([place_of(cell)].into_iter().chain(phases), " ")
    });
    let wrong = text::joined(wrong, "; ");
    (!wrong.is_empty()).then_some(wrong)
}

/// Names the work of a cell: `machine 60k individual`.
fn place_of(cell: &Cell) -> String {
    let id = &cell.id;
    text::plain(&format!("{} {} {}", id.workload, id.extent(), id.variant))
}
