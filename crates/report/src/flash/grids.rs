//! Tables of modelled cards, and the assumptions behind their figures in words.

use embermark_model::Card;
use embermark_model::card::{Cleaning, Mapping, Spread};
use embermark_model::result::ResultFile;

use super::{Wear, YEAR, model};
use crate::grid::{self, Annotated, BEST, Grid, Text, Tone};
use crate::note::{Note, note};
use crate::summary::{Comparison, Engine, Group, Row};
use crate::{format, text};

/// Years from which no number is shown, because it would not be credible.
const LONG: f64 = 1_000.0;

/// The header of a table that has only notes.
const NO_HEADINGS: [&str; 0] = [];

/// Ratio of both ends from which they are shown.
const TELLING: f64 = 1.1;

/// Returns the tables of a result's cards, one per card and group. `rows_per_day` is the rate for
/// which years are shown.
pub(crate) fn grids(comparison: &Comparison<'_>, rows_per_day: Option<f64>) -> Vec<Annotated> {
    let file = comparison.file;
    let mut tables: Vec<Annotated> = Vec::new();
    for card in &file.plan.cards {
        let groups = comparison.groups.iter();
        let grids = groups.filter_map(|group| group_table(group, card, rows_per_day));
        let mut grids: Vec<Grid> = grids.collect();
        let mut notes = refusals(file, card);
        if !grids.is_empty() {
            notes.insert(0, note(text::plain(&card.name), describe_card(card)));
        } else if !notes.is_empty() {
            let title = format!("flash programmed on {} (model)", text::plain(&card.name));
            grids.push(Grid::new(title, NO_HEADINGS, Vec::new()));
        }
        tables.extend(grids.into_iter().map(|grid| Annotated { grid, notes: Vec::new() }));
        if !notes.is_empty()
            && let Some(last) = tables.last_mut()
        {
            last.notes = notes;
        }
    }
    if let Some(last) = tables.last_mut() {
        last.notes.push(note("model", MODEL));
        last.notes.push(note("years", describe_years(rows_per_day)));
    }
    if let Some(why) = &file.manifest.not_modelled {
        let grid = Grid::new("flash programmed (model)", NO_HEADINGS, Vec::new());
        tables.push(Annotated { grid, notes: vec![note(format::NOT_MEASURED, text::plain(why))] });
    }
    tables
}

/// Lists cells that a card could not be modelled for, and cells that reached no steady state.
fn refusals(file: &ResultFile, card: &Card) -> Vec<Note> {
    let told = file.cells.iter().filter_map(|cell| {
        let model = model(cell, card)?;
        let unsteady = "it reached no steady state; its last round is shown".to_owned();
        let told = match &model.not_modelled {
            Some(why) => ("not modelled", text::plain(why)),
            None => ("unsteady", model.unsteady.then_some(unsteady)?),
        };
        Some((told, text::plain(&cell.id.to_string())))
    });
    let line = |((about, why), cells): ((&str, String), Vec<String>)| {
        note(about, format!("{}: {why}", cells.join(", ")))
    };
    text::by_key(told).into_iter().map(line).collect()
}

/// Returns a table with phases down and engines across. It has the bytes programmed, also per
/// million rows or operations with the ratio to the least and the range of the card's parameters,
/// and years at a rate. `None` if nothing was modelled.
fn group_table(group: &Group<'_>, card: &Card, rows_per_day: Option<f64>) -> Option<Grid> {
    let wear = |row: &Row<'_>, engine: &Engine<'_>| {
        let variant = row.variant.unwrap_or(group.variant);
        Wear::new(group.cell(variant, engine.id)?, card, row.phase?)
    };
    let known = |engine: &Engine<'_>| group.rows.iter().any(|row| wear(row, engine).is_some());
    let mut places = grid::columns(group);
    places.retain(|at| known(&group.engines[*at]));
    let mut rows = Vec::new();
    for row in &group.rows {
        let all: Vec<Option<Wear<'_>>> =
            places.iter().map(|at| wear(row, &group.engines[*at])).collect();
        // A phase that only reads programs nothing, so there is nothing to compare.
        if !all.iter().flatten().any(|wear| wear.programmed() > 0.0) {
            continue;
        }
        let label = grid::label(row, false);
        let of = |show: &dyn Fn(&Wear<'_>) -> Text| -> Vec<Text> {
            all.iter().map(|wear| wear.as_ref().map_or_else(Text::dash, show)).collect()
        };
        let programmed = of(&|wear| Text::new(format::bytes(wear.programmed())));
        rows.push((format!("{label} programmed"), programmed));
        let ranked = |at: usize| {
            let entry = row.entries[at].measured();
            group.engines[at].ranked(group.durability) && entry.is_some_and(|of| of.competes())
        };
        let amounts = places.iter().zip(&all).filter(|(at, _)| ranked(**at));
        let amounts = amounts.filter_map(|(_, wear)| wear.as_ref()?.per_million());
        let amounts: Vec<f64> = amounts.filter(|amount| *amount > 0.0).collect();
        // A single engine has nothing to be compared with.
        let least = amounts.iter().copied().reduce(f64::min).filter(|_| amounts.len() > 1);
        let loads = all.iter().flatten().any(|wear| wear.loads);
        let unit = if loads { "rows" } else { "operations" };
        let texts = places.iter().zip(&all).map(|(at, wear)| {
            let least = least.filter(|_| ranked(*at));
            wear.as_ref().map_or_else(Text::dash, |wear| per_million(wear, least))
        });
        rows.push((format!("{label} a million {unit}"), texts.collect()));
        let ends = |wear: &Wear<'_>| wear.per_million_ends();
        if all.iter().flatten().filter_map(ends).any(|[least, most]| most > TELLING * least) {
            rows.push((format!("{label} a million, ends"), of(&|wear| spread(ends(wear)))));
        }
        if let Some(rate) = rows_per_day.filter(|_| loads) {
            rows.push((format!("{label} years"), of(&|wear| years(wear.years(rate)))));
        }
    }
    let header = places.iter().map(|at| grid::engine_heading(group, &group.engines[*at]));
    let title = format!(
        "{} · flash programmed on {} (model), and the ratio to the least",
        grid::title(group),
        text::plain(&card.name)
    );
    Grid::new(title, header, rows).filled()
}

/// Formats the range of a card's parameters: `147 MB-3.01 GB`.
fn spread(ends: Option<[f64; 2]>) -> Text {
    Text::new(format::or_dash(ends, |ends| format::between(ends, format::bytes)))
}

fn per_million(wear: &Wear<'_>, least: Option<f64>) -> Text {
    let Some(bytes) = wear.per_million() else { return Text::dash() };
    let ratio = least.filter(|_| bytes > 0.0).map(|least| bytes / least);
    let best = ratio == Some(1.0);
    Text {
        second: ratio.map(format::ratio).unwrap_or_default(),
        ratio,
        best: if best { BEST } else { "" },
        tone: if best { Tone::Best } else { Tone::Plain },
        ..Text::new(format::bytes(bytes))
    }
}

fn years(ends: Option<[f64; 2]>) -> Text {
    Text::new(ends.map_or_else(|| format::NOT_MEASURED.to_owned(), years_between))
}

/// Formats the shortest and the longest life of a card: `0.42-12 y`, `1.1 d-0.12 y`,
/// `over 1,000 y`.
pub(crate) fn years_between(ends: [f64; 2]) -> String {
    let show = |years: f64| {
        let days = years * YEAR;
        let (amount, unit) = match years {
            LONG.. => return format!("over {} y", format::number(LONG)),
            0.1.. => (years, "y"),
            _ if days >= 1.0 => (days, "d"),
            _ => (days * 24.0, "h"),
        };
        // At most two digits, because the range is not more precise.
        match amount {
            10.0.. => format!("{amount:.0} {unit}"),
            1.0.. => format!("{amount:.1} {unit}"),
            _ => format!("{amount:.2} {unit}"),
        }
    };
    match ends {
        [low, _] if low >= LONG => show(LONG),
        [low, high] if high >= LONG => format!("{} to {}", show(low), show(high)),
        ends => format::between(ends, show),
    }
}

/// Formats a parameter: `one`, or `30 to 74, likely 50`.
fn parameter(all: Spread, show: impl Fn(u32) -> String) -> String {
    let Spread { low, typical, high } = all;
    match low == high {
        true => show(typical),
        false => format!("{} to {}, likely {}", show(low), show(high), show(typical)),
    }
}

/// Describes the parameters of a card in one line.
fn describe_card(card: &Card) -> String {
    let bytes = |count: u64| match count.is_multiple_of(1 << 10) {
        true if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        true => format!("{} KiB", count >> 10),
        false => format::bytes(count as f64),
    };
    let share = |permille: u32| format!("{} %", f64::from(permille) / 10.0);
    let mapping = match card.mapping {
        Mapping::PageMapped { map_bytes, cleaning } => {
            let next = match cleaning {
                Cleaning::Fifo => "the oldest block is cleaned next",
                Cleaning::Greedy => "the block with the fewest valid pages is cleaned next",
            };
            format!("page-mapped in units of {}, {next}", bytes(map_bytes))
        }
        Mapping::LogBlocks { open_units } => {
            let open = parameter(open_units, |open| open.to_string());
            format!("log blocks, {open} of them open at a time")
        }
    };
    let cache = match card.cache_bytes {
        0 => "no write cache".to_owned(),
        cache => format!("a write cache of {}", bytes(cache)),
    };
    format!(
        "{}, {}; pages of {}, erase blocks of {}; {cache}; spare space {}; each block erased {} times; \
         {} of the card next to the database's disk filled with data that never change",
        format::bytes(card.capacity_bytes as f64),
        mapping,
        bytes(card.page_bytes),
        bytes(card.erase_block_bytes),
        parameter(card.spare_permille, share),
        parameter(card.cycles, |cycles| format::count(cycles.into())),
        share(card.filled_permille),
    )
}

/// Explains the model to readers of its figures.
const MODEL: &str = "no card was measured: every write, discard and flush that reached the disk \
    in the trial that counts was replayed on a model of the card, repeatedly until it was steady; \
    programmed: bytes programmed into flash by one run of the phase and the maintenance after it, by the \
    card's likely parameters; ends: at both ends of them, where that is another figure. A ratio \
    counts only if both ends confirm it (docs/flash.md)";

/// Explains the assumptions behind years.
fn describe_years(rows_per_day: Option<f64>) -> String {
    match rows_per_day {
        Some(rate) => format!(
            "until every block reached its erase limit, at {} rows per day inserted that way and nothing else \
             written; from the parameters with the shortest life to those with the longest; wear even \
             over the whole card; rows that are deleted, questions and the system's own writes not counted",
            format::number(rate)
        ),
        None => "how long the card lasts at your rate: --rows-per-day 1M".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_life_is_in_days_or_hours_and_never_0() {
        for (ends, shown) in [
            ([0.42, 12.0], "0.42-12 y"),
            ([0.003, 0.12], "1.1 d-0.12 y"),
            ([0.01, 0.05], "3.7-18 d"),
            ([0.0005, 0.002], "4.4-18 h"),
            ([12.0, 4_000.0], "12 y to over 1,000 y"),
            ([2_000.0, 4_000.0], "over 1,000 y"),
        ] {
            assert_eq!(years_between(ends), shown);
        }
    }
}
