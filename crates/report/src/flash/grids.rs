//! Tables of modelled cards.

use embermark_model::Card;
use embermark_model::result::ResultFile;

use super::{Wear, assumptions, model};
use crate::grid::{self, Annotated, BEST, Grid, Text, Tone};
use crate::note::{Note, note};

use crate::summary::{Comparison, Engine, Group, Row};
use crate::{format, text};

/// Years from which no number is shown, because it would not be credible.
const LONG: f64 = 1_000.0;

/// Ratio of both ends from which they are shown.
const TELLING: f64 = 1.1;

/// Returns the tables of a result's cards, one per card and group. `rows_per_day` is the rate for
/// which years are shown.
pub(crate) fn grids(
    file: &ResultFile,
    comparison: &Comparison<'_>,
    rows_per_day: Option<f64>,
) -> Vec<Annotated> {
    let mut tables: Vec<Annotated> = Vec::new();
    for card in &file.plan.cards {
        let groups = comparison.groups.iter();
        let grids = groups.filter_map(|group| group_table(file, group, card, rows_per_day));
        let before = tables.len();
        tables.extend(grids.map(|grid| Annotated { grid, notes: Vec::new() }));
        let mut notes = refusals(file, card);
        if tables.len() > before {
            notes.insert(0, note(text::plain(&card.name), assumptions::card(card)));
        }
        match tables[before..].last_mut() {
            Some(last) => last.notes = notes,
            None if notes.is_empty() => {}
            None => tables.push(Annotated { grid: empty(card), notes }),
        }
    }
    if let Some(last) = tables.last_mut() {
        last.notes.push(note("model", assumptions::MODEL));
        last.notes.push(note("years", assumptions::years(rows_per_day)));
    }
    if let Some(why) = &file.manifest.not_modelled {
        let title = "flash programmed (model)".to_owned();
        let grid = Grid { title, header: Vec::new(), rows: Vec::new() };
        tables.push(Annotated { grid, notes: vec![note(format::NOT_MEASURED, text::plain(why))] });
    }
    tables
}

/// Makes a table without lines, for a card that could not be modelled.
fn empty(card: &Card) -> Grid {
    let title = format!("flash programmed on {} (model)", text::plain(&card.name));
    Grid { title, header: Vec::new(), rows: Vec::new() }
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
    let by_reason = text::by_key(told).into_iter();
    by_reason
        .map(|((about, why), cells)| note(about, format!("{}: {why}", cells.join(", "))))
        .collect()
}

/// Returns a table with phases down and engines across. It has the bytes programmed, also per
/// million rows or operations with the ratio to the least and the range of the card's parameters,
/// and years at a rate. `None` if nothing was modelled.
fn group_table(
    file: &ResultFile,
    group: &Group<'_>,
    card: &Card,
    rows_per_day: Option<f64>,
) -> Option<Grid> {
    let wear = |row: &Row<'_>, engine: &Engine<'_>| {
        let variant = row.variant.unwrap_or(group.variant);
        Wear::new(group.cell(file, variant, engine.id)?, card, row.phase?)
    };
    let known = |engine: &Engine<'_>| group.rows.iter().any(|row| wear(row, engine).is_some());
    let places: Vec<usize> =
        grid::columns(group).into_iter().filter(|at| known(&group.engines[*at])).collect();
    let mut rows = Vec::new();
    for row in &group.rows {
        let all: Vec<Option<Wear<'_>>> =
            places.iter().map(|at| wear(row, &group.engines[*at])).collect();
        // A phase that only reads programs nothing, so there is nothing to compare.
        if !all.iter().flatten().any(|wear| wear.programmed() > 0.0) {
            continue;
        }
        let label = grid::label(row, false);
        let of = |show: &dyn Fn(&Wear<'_>) -> Text| {
            all.iter()
                .map(|wear| wear.as_ref().map_or_else(|| Text::new(format::NOT_MEASURED), show))
                .collect::<Vec<Text>>()
        };
        rows.push((
            format!("{label} programmed"),
            of(&|wear| Text::new(format::bytes(wear.programmed()))),
        ));
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
        let texts = places.iter().zip(&all).map(|(at, wear)| match wear {
            Some(wear) => per_million(wear, least.filter(|_| ranked(*at))),
            None => Text::new(format::NOT_MEASURED),
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
    (!rows.is_empty()).then(|| Grid { title, header: header.collect(), rows })
}

/// Formats the range of a card's parameters: `147 MB-3.01 GB`.
fn spread(ends: Option<[f64; 2]>) -> Text {
    Text::new(format::or_dash(ends, |ends| format::between(ends, format::bytes)))
}

fn per_million(wear: &Wear<'_>, least: Option<f64>) -> Text {
    let Some(bytes) = wear.per_million() else { return Text::new(format::NOT_MEASURED) };
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

/// Formats the shortest and the longest life of a card: `0.42-12 y`, `over 1,000 y`.
pub(crate) fn years_between(ends: [f64; 2]) -> String {
    // At most two digits, because the range is not more precise.
    let show = |years: f64| match years {
        LONG.. => format!("over {} y", format::number(LONG)),
        10.0.. => format!("{years:.0} y"),
        1.0.. => format!("{years:.1} y"),
        _ => format!("{years:.2} y"),
    };
    match ends {
        [low, _] if low >= LONG => show(LONG),
        [low, high] if high >= LONG => format!("{} to {}", show(low), show(high)),
        ends => format::between(ends, show),
    }
}
