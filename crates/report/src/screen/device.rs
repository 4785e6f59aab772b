//! The table for builders of devices: one line per engine, with commits of single rows in every measured
//! tier, batches, reads, changes and questions, and the use of memory and flash. The figures are those of
//! `advise`, so that there is one ranking.

use embermark_model::{Client, Conditions, Durability};

use crate::advise::presets::{PRESETS, Ranking};
use crate::advise::{self, Advice, AdviceTable, EngineAdvice, Needs, RestsOn, pick};
use crate::evidence::{self, TierStanding};
use crate::grid::{self, Grid, Text};
use crate::note::{Note, note};
use crate::summary::{Comparison, Engine, Group};
use crate::{Options, format, table, text};
use serde::Serialize;
use textwrap::core::display_width;

use columns::{columns, legend};
use recommendation::take;

mod columns;
mod recommendation;

/// The recommendation and the table of engines.
pub(crate) struct Device {
    /// What to take, one line per kind of work.
    pub take: Vec<Note>,
    /// What to take if all work counts alike.
    pub best: Option<String>,
    /// The tier of lines that name none, if there are several tiers.
    pub tier: Option<Durability>,
    /// The table.
    pub grid: Grid,
    /// The number of columns about the work. The columns after them are about resources.
    pub work: usize,
    /// What the marks in the table mean.
    pub legend: Vec<String>,
    /// The engine of each row of the table.
    pub engines: Vec<Measured>,
    /// The order of the engines in each situation.
    pub orders: Vec<Ranking>,
}

/// The engine of a row, in the tier in which all work was measured.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measured {
    /// The engine's id.
    pub engine: String,
    /// Peak memory of the engine, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<f64>,
}

/// Returns the table with engines used from any language. The recommendation covers the first
/// language with two engines to compare, and has a line for each other one. `None` if the result
/// has no commits of single rows, or no two engines to compare. `durability` has what tests showed
/// for the tiers.
pub(crate) fn for_all_languages(
    comparison: &Comparison<'_>,
    durability: &[TierStanding],
) -> Option<Device> {
    let all = advise::tables_for_all_columns(comparison.file, &[conditions(comparison)]).tables;
    let mut device = from_table(comparison, durability, largest(all)?)?;
    let Some(each) = per_language(comparison, durability) else { return Some(device) };
    device.take = match each.split_first() {
        None => vec![note("nothing", "no two engines are used from the same language")],
        Some(((language, first), others)) => {
            // Without a word about the language, the lines are about embermark itself.
            let is_own = language == Client::NATIVE;
            let other = (!is_own).then(|| note("used from", text::plain(language)));
            let line = |(language, own): &(String, Device)| {
                Some(note(format!("from {}", text::plain(language)), own.best.clone()?))
            };
            let lines = other.into_iter().chain(first.take.iter().cloned());
            lines.chain(others.iter().filter_map(line)).collect()
        }
    };
    Some(device)
}

/// Returns one table per language with two engines to compare, embermark itself first. `None` if
/// engines are used from one language.
pub(crate) fn per_language(
    comparison: &Comparison<'_>,
    durability: &[TierStanding],
) -> Option<Vec<(String, Device)>> {
    let tables = advise::tables(&[comparison.file], None, &[conditions(comparison)]).tables;
    let languages = text::unique(tables.iter().map(|table| table.language().to_owned()));
    let of = |language: &String| {
        let own = tables.iter().filter(|table| table.language() == language).cloned();
        let device = from_table(comparison, durability, largest(own.collect())?)?;
        Some((language.clone(), device))
    };
    (languages.len() > 1).then(|| languages.iter().filter_map(of).collect())
}

/// Returns the conditions without a memory limit, on this machine's disk if that was measured.
fn conditions(comparison: &Comparison<'_>) -> Conditions {
    let all = comparison.groups.iter().map(Group::conditions);
    all.filter(|conditions| conditions.memory_limit.is_none()).min().unwrap_or_default()
}

fn largest(tables: Vec<AdviceTable>) -> Option<AdviceTable> {
    tables.into_iter().max_by_key(|table| table.rows)
}

fn from_table(
    comparison: &Comparison<'_>,
    durability: &[TierStanding],
    mut table: AdviceTable,
) -> Option<Device> {
    let file = comparison.file;
    table.leave_out_unfit(|entry| {
        evidence::broken(durability, &entry.engine, entry.tier).map(str::to_owned)
    });
    let has_ingest = |tier: &Durability| table.compares(*tier, "ingest");
    let tiers = [Durability::Power, Durability::Process, Durability::None];
    let tiers: Vec<Durability> = tiers.into_iter().filter(has_ingest).collect();
    // Other work does not depend on the tier, and takes less time without syncs.
    let main = *tiers.iter().find(|tier| **tier != Durability::Power).or_else(|| tiers.first())?;
    // Not for work that loses samples instead of time, such as `machine`: it has a table of its own.
    let has_rows =
        |entry: &EngineAdvice| ["point", "update"].iter().any(|of| entry.ratios.contains_key(of));
    if !table.engines.iter().any(has_rows) {
        return None;
    }
    let best = |tier: &Durability| advise::advise(&table, Needs::only(*tier), &[]).ok();
    let all: Vec<(Durability, Advice)> =
        tiers.iter().filter_map(|tier| Some((*tier, best(tier)?))).collect();
    let columns = columns(&table, &tiers, main, &all);
    let ranked = table.engines.iter().filter(|entry| entry.facts.kind != "reference");
    let engines = text::unique(ranked.map(|entry| entry.engine.clone()));
    let row = |engine: String| {
        let texts: Vec<Text> = columns.iter().map(|of| of.text(file, &table, &engine)).collect();
        let compared = texts.iter().any(|text| text.value != format::NOT_MEASURED);
        compared.then_some((engine, texts))
    };
    let mut rows: Vec<(String, Vec<Text>)> = engines.into_iter().filter_map(row).collect();
    let by_client = by_client(comparison, main);
    if let Some(at) = columns.iter().position(|column| column.criterion == "analytics") {
        for (_, texts) in rows.iter_mut().filter(|(name, _)| by_client.contains(name)) {
            if texts[at].value != format::NOT_MEASURED {
                texts[at].marks += grid::CLIENT_SIDE;
            }
        }
    }
    let measured = |engine: &String| {
        let peak_bytes = table.entry(engine, main).and_then(|entry| entry.facts.peak_bytes);
        Measured { engine: text::plain(engine), peak_bytes }
    };
    let engines = rows.iter().map(|(engine, _)| measured(engine)).collect();
    let rows = rows.into_iter().map(|(engine, texts)| (heading(comparison, &engine, main), texts));
    let grid = Grid::new("", columns.iter().map(|column| &column.heading), rows.collect());
    Some(Device {
        take: rests_on(comparison, &table, &tiers)
            .into_iter()
            .chain(take(file, &table, &tiers, main))
            .collect(),
        best: pick::pick(&table, Needs::only(main), &pick::all_work(&table, main))
            .map(|pick| pick.describe()),
        tier: (tiers.len() > 1).then_some(main),
        legend: legend(&grid, &columns, &table, &tiers, main),
        grid,
        work: columns.iter().take_while(|column| !column.is_used()).count(),
        engines,
        orders: PRESETS.iter().map(|preset| preset.order(&table, main)).collect(),
    })
}

/// Names the scales behind a table: `sensors 10k, contacts 1k`. `None` if these are the plan's
/// largest.
fn rests_on(
    comparison: &Comparison<'_>,
    table: &AdviceTable,
    tiers: &[Durability],
) -> Option<Note> {
    let of = |tier: &Durability| {
        let places = table.resting(*tier, &[]).into_iter().map(RestsOn::place);
        (text::joined(places, ", "), tier.to_string())
    };
    let is_larger = |group: &Group<'_>, of: &RestsOn| {
        (group.conditions(), group.durability) == (table.conditions, of.tier)
            && text::plain(group.workload) == of.workload
            && group.row_count() > of.rows
    };
    let resting = || tiers.iter().flat_map(|tier| table.resting(*tier, &[]));
    let mut groups = comparison.groups.iter();
    let is_smaller = groups.any(|group| resting().any(|of| is_larger(group, of)));
    let says = match text::by_key(tiers.iter().map(of)).as_slice() {
        [(places, _)] => places.clone(),
        all => text::joined(
            all.iter().map(|(places, tiers)| format!("{} at {places}", tiers.join(" and "))),
            "; ",
        ),
    };
    is_smaller.then(|| note("rests on", says))
}

/// Returns the name of an engine with its marks in a tier. A promise that it broke in any tier is
/// marked.
fn heading(comparison: &Comparison<'_>, engine: &str, tier: Durability) -> String {
    let found: Vec<(&Group<'_>, &Engine<'_>)> = comparison
        .groups
        .iter()
        .filter_map(|group| Some((group, group.engines.iter().find(|own| own.name() == engine)?)))
        .collect();
    let broken = found.iter().any(|(_, own)| own.broken);
    match found.iter().find(|(group, _)| group.durability == tier).or(found.first()) {
        Some((group, own)) => grid::engine_heading(group, &Engine { broken, ..(*own).clone() }),
        None => text::plain(engine),
    }
}

/// Returns the engines whose questions code in the client answers, in a tier.
fn by_client(comparison: &Comparison<'_>, tier: Durability) -> Vec<String> {
    let groups = comparison.groups.iter().filter(|group| group.durability == tier);
    let measured = groups.flat_map(|group| group.measured());
    let by_client = measured.filter(|(.., measured)| measured.figure.client_side);
    text::unique(by_client.map(|(_, engine, _)| engine.name()))
}

/// Formats the recommendation and the table below it.
pub(super) fn blocks(device: &Device, options: &Options<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if !device.take.is_empty() {
        let widest = device.take.iter().map(|note| display_width(&note.about)).max().unwrap_or(0);
        let line = |Note { about, says }: &Note| {
            let head = format!("  {}  ", table::pad_right(about, widest));
            table::wrapped(&format!("{head}{says}"), options.width, "", &" ".repeat(widest + 4))
        };
        let lines: Vec<String> = device.take.iter().flat_map(line).collect();
        let says = match device.tier {
            Some(tier) => format!("What to take, at {tier} where no tier is named"),
            None => "What to take".to_owned(),
        };
        out.push(format!("{}\n{}", table::heading(&says, options), lines.join("\n")));
    }
    out.extend(table::in_parts(&device.grid, device.work, options));
    out.push(table::packed(&device.legend, options.width).join("\n"));
    out
}
