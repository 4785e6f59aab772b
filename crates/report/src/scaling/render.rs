//! Scaling for a terminal and in Markdown.

use embermark_model::Scale;

use super::{Fastest, Growth, Overtaking, PhaseScaling, Scaling, Within};
use crate::grid::{self, Annotated, Grid, NOT_SIGNIFICANT, Text};
use crate::note::{Note, note};
use crate::text;

/// Largest number of engines that are named for one place.
const MOST_NAMES: usize = 2;
/// Largest number of turns that are named below a table.
const MOST_TURNS: usize = 8;

/// Returns two tables for each workload, tier and memory limit that was measured at several scales:
/// how time grows, and which engine is the fastest at each scale.
pub(crate) fn grids(scaling: &Scaling<'_>) -> Vec<Annotated> {
    let keys = text::unique(scaling.phases.iter().map(|one| one.series.within));
    let tables = |key: Within<'_>| {
        let phases = scaling.phases.iter().filter(|one| one.series.within == key);
        let phases: Vec<&PhaseScaling<'_>> = phases.collect();
        let turns = scaling.turns.iter().filter(|turn| turn.within == key);
        let title = title(key, &scaling.conditions);
        [growth(&title, scaling, &phases), fastest(&title, &phases, turns.collect())]
    };
    let filled = |one: &Annotated| !one.grid.header.is_empty();
    keys.into_iter().flat_map(tables).filter(filled).collect()
}

/// Returns the title: `sensors within 256 MiB on sd-a1 · durability process · cold reads`.
fn title(Within { workload, tier, conditions }: Within<'_>, of_run: &[String]) -> String {
    let head = format!("{}{conditions} · durability {tier}", text::plain(workload));
    text::joined([head].into_iter().chain(of_run.iter().cloned()), " · ")
}

/// Returns a table of exponents, with phases down and engines across.
fn growth(title: &str, scaling: &Scaling<'_>, phases: &[&PhaseScaling<'_>]) -> Annotated {
    let grown = || phases.iter().flat_map(|one| &one.growth);
    let has = |engine: &&&str| grown().any(|growth| growth.engine == **engine);
    let engines: Vec<&str> = scaling.engines.iter().filter(has).copied().collect();
    let row = |one: &&PhaseScaling<'_>| {
        let text = |engine: &&str| {
            let growth = one.growth.iter().find(|growth| growth.engine == *engine);
            growth.map_or_else(Text::dash, |growth| exponent(growth, one))
        };
        (one.series.phase_name(), engines.iter().map(text).collect())
    };
    let header = engines.iter().map(|engine| text::plain(engine));
    let rows = phases.iter().map(row).collect();
    let grid = Grid::new(format!("{title} · growth with rows"), header, rows);
    let says = "exponent x of time of one operation = c · rows^x, by least squares: 0 more rows \
                cost nothing, 1 ten times the rows ten times the time; a question is one operation";
    let mut said = vec![note("x", says)];
    if grown().any(|growth| growth.bends) {
        said.push(note("a to b", "it bends: the exponent of the first and of the last step"));
    }
    if grown().any(|growth| growth.stopped) {
        let says = "with a time that was stopped at the longest run time: a load of fewer rows";
        said.push(note(grid::STOPPED, says));
    }
    Annotated { grid, notes: said }
}

/// Formats an exponent: `0.62`. Adds its first and last step if the growth bends, or its scales if
/// it lacks some.
fn exponent(growth: &Growth<'_>, one: &PhaseScaling<'_>) -> Text {
    let ends = growth.steps.first().zip(growth.steps.last());
    let second = match ends {
        Some((first, last)) if growth.steps.len() + 1 < one.scales.len() => {
            format!("{} to {}", first.from, last.to)
        }
        Some((first, last)) if growth.bends => {
            format!("{} to {}", slope(first.exponent, 1), slope(last.exponent, 1))
        }
        _ => String::new(),
    };
    Text {
        marks: if growth.stopped { grid::STOPPED } else { "" }.to_owned(),
        second,
        ..Text::new(slope(growth.exponent, 2))
    }
}

/// Formats an exponent. A value that rounds to 0 has no sign.
fn slope(exponent: f64, decimals: usize) -> String {
    let shown = format!("{exponent:.decimals$}");
    match shown.trim_start_matches(['-', '0', '.']).is_empty() {
        true => shown.trim_start_matches('-').to_owned(),
        false => shown,
    }
}

/// Returns a table of the fastest engines, with phases down and scales across.
fn fastest(title: &str, phases: &[&PhaseScaling<'_>], turns: Vec<&Overtaking<'_>>) -> Annotated {
    let mut scales = text::unique(phases.iter().flat_map(|one| one.scales.iter().copied()));
    scales.sort_unstable();
    let row = |one: &&PhaseScaling<'_>| {
        let text = |scale: &Scale| {
            let who = one.fastest.iter().find(|fastest| fastest.scale == *scale);
            who.map_or_else(Text::dash, |who| Text::new(names(who)))
        };
        (one.series.phase_name(), scales.iter().map(text).collect())
    };
    let header = scales.iter().map(ToString::to_string);
    let rows = phases.iter().map(row).collect();
    let grid = Grid::new(format!("{title} · fastest by rows"), header, rows);
    let mut said: Vec<Note> = turns.iter().map(|turn| note("", turn.says.clone())).collect();
    let more = said.len().saturating_sub(MOST_TURNS);
    if more > 1 {
        said.truncate(MOST_TURNS);
        said.push(note("", format!("and {more} more, in --format json")));
    }
    if let Some(first) = said.first_mut() {
        first.about = "order turns".to_owned();
    } else if phases.iter().any(|one| one.few_trials) {
        let says = "unknown: it needs 3 trials or more to show that an order is not chance";
        said.push(note("order turns", says));
    } else {
        said.push(note("order turns", "nowhere among the fastest, all and of a family"));
    }
    let shared = phases.iter().flat_map(|one| &one.fastest).any(|who| who.engines.len() > 1);
    let says = "no difference to the first is shown; +1: nor of one more";
    said.extend(shared.then(|| note(NOT_SIGNIFICANT, says)));
    Annotated { grid, notes: said }
}

/// Describes the fastest by scale: `lmdb up to 10k, berkeleydb ≈ lmdb at 100k, duckdb from 1M`.
pub(super) fn leading(all: &[Fastest<'_>]) -> String {
    let same = |one: &Fastest<'_>, other: &Fastest<'_>| {
        let has = |engine| other.engines.contains(engine);
        one.engines.len() == other.engines.len() && one.engines.iter().all(has)
    };
    let spans: Vec<&[Fastest<'_>]> = all.chunk_by(same).collect();
    let last = spans.len().saturating_sub(1);
    let ends = |span: &[Fastest<'_>]| {
        let (first, end) = (span.first()?, span.last()?);
        Some((names(first), first.scale, end.scale))
    };
    let spans = spans.into_iter().filter_map(ends).enumerate();
    let span = |(place, (names, from, to)): (usize, (String, Scale, Scale))| match place {
        0 if last == 0 => format!("{names} at every scale"),
        0 => format!("{names} up to {to}"),
        _ if place == last => format!("{names} from {from}"),
        _ if from == to => format!("{names} at {from}"),
        _ => format!("{names} from {from} to {to}"),
    };
    text::joined(spans.map(span), ", ")
}

/// Names the fastest: `lmdb`, `berkeleydb ≈ lmdb`, `berkeleydb ≈ lmdb +2`.
fn names(fastest: &Fastest<'_>) -> String {
    let names = fastest.engines.iter().take(MOST_NAMES).map(|engine| text::plain(engine));
    let names = text::joined(names, &format!(" {NOT_SIGNIFICANT} "));
    match fastest.engines.len().saturating_sub(MOST_NAMES) {
        0 => names,
        more => format!("{names} +{more}"),
    }
}

/// Describes the turns for the screen, the most important first.
pub(crate) fn order_turns(scaling: &Scaling<'_>) -> Vec<String> {
    let several =
        text::unique(scaling.phases.iter().map(|one| one.series.within.workload)).len() > 1;
    let says = |turn: &Overtaking<'_>| match several {
        true => format!("{}: {}", text::plain(turn.within.workload), turn.briefly()),
        false => turn.briefly(),
    };
    text::unique(scaling.turns.iter().map(says))
}

/// Lists engines with unexplained surprises, and the phases: `rocksdb read, update`.
pub(crate) fn unexplained(scaling: &Scaling<'_>) -> Vec<String> {
    let open = scaling.told.iter().filter(|one| !one.explained);
    let phases = open.flat_map(|one| one.phases.iter().map(|phase| (one.engine, phase.clone())));
    let line = |(engine, phases): (&str, Vec<String>)| {
        format!("{} {}", text::plain(engine), phases.join(", "))
    };
    text::by_key(phases).into_iter().map(line).collect()
}

/// Lists every surprise. Those of an engine with the same reason share a note.
pub(crate) fn notes(scaling: &Scaling<'_>) -> Vec<Note> {
    scaling.told.iter().map(|one| note(text::plain(one.engine), one.says.clone())).collect()
}
