//! What is shown of scale in a terminal and in Markdown.

use embermark_model::Scale;

use super::{Fastest, Growth, Overtaking, PhaseScaling, Scaling, Within};
use crate::grid::{self, Annotated, Grid, NOT_SIGNIFICANT, Text};
use crate::note::{Note, note};

use crate::{format, text};

/// The most engines named that share a place.
const MOST_NAMES: usize = 2;
/// The most turns named below a table.
const MOST_TURNS: usize = 8;

/// Two tables for each workload in each tier and limit of memory that was measured at several
/// scales: how time grows, and who is the fastest where.
pub(crate) fn grids(scaling: &Scaling<'_>) -> Vec<Annotated> {
    let keys = text::unique(scaling.phases.iter().map(|one| one.series.within));
    let tables = |key: Within<'_>| {
        let phases = scaling.phases.iter().filter(|one| one.series.within == key);
        let phases: Vec<&PhaseScaling<'_>> = phases.collect();
        let turns = scaling.turns.iter().filter(|turn| turn.within == key);
        let title = title(key, scaling.cold);
        [growth(&title, scaling, &phases), fastest(&title, &phases, turns.collect())]
    };
    let filled = |one: &Annotated| !one.grid.header.is_empty();
    keys.into_iter().flat_map(tables).filter(filled).collect()
}

/// `sensors within 256 MiB on sd-a1 · durability process · cold reads`.
fn title(Within { workload, tier, conditions }: Within<'_>, cold: bool) -> String {
    let cold = if cold { " · cold reads" } else { "" };
    format!("{}{conditions} · durability {tier}{cold}", text::plain(workload))
}

/// Phases down, engines across: exponents.
fn growth(title: &str, scaling: &Scaling<'_>, phases: &[&PhaseScaling<'_>]) -> Annotated {
    let grown = || phases.iter().flat_map(|one| &one.growth);
    let has = |engine: &&&str| grown().any(|growth| growth.engine == **engine);
    let engines: Vec<&str> = scaling.engines.iter().filter(has).copied().collect();
    let row = |one: &&PhaseScaling<'_>| {
        let text = |engine: &&str| {
            let growth = one.growth.iter().find(|growth| growth.engine == *engine);
            growth.map_or_else(|| Text::of(format::NOT_MEASURED), |growth| exponent(growth, one))
        };
        (one.series.phase_name(), engines.iter().map(text).collect())
    };
    let grid = Grid {
        title: format!("{title} · growth with rows"),
        header: engines.iter().map(|engine| text::plain(engine)).collect(),
        rows: phases.iter().map(row).collect(),
    };
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

/// `0.62`, and its first and last step where it bends, or its scales where it lacks some.
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
        ..Text::of(slope(growth.exponent, 2))
    }
}

/// An exponent with so many decimals; what rounds to 0 has no sign.
fn slope(exponent: f64, decimals: usize) -> String {
    let shown = format!("{exponent:.decimals$}");
    match shown.trim_start_matches(['-', '0', '.']).is_empty() {
        true => shown.trim_start_matches('-').to_owned(),
        false => shown,
    }
}

/// Phases down, scales across: who is the fastest.
fn fastest(title: &str, phases: &[&PhaseScaling<'_>], turns: Vec<&Overtaking<'_>>) -> Annotated {
    let mut scales = text::unique(phases.iter().flat_map(|one| one.scales.iter().copied()));
    scales.sort_unstable();
    let row = |one: &&PhaseScaling<'_>| {
        let text = |scale: &Scale| {
            let who = one.fastest.iter().find(|fastest| fastest.scale == *scale);
            who.map_or_else(|| Text::of(format::NOT_MEASURED), |who| Text::of(names(who)))
        };
        (one.series.phase_name(), scales.iter().map(text).collect())
    };
    let grid = Grid {
        title: format!("{title} · fastest by rows"),
        header: scales.iter().map(ToString::to_string).collect(),
        rows: phases.iter().map(row).collect(),
    };
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

/// `lmdb up to 10k, berkeleydb ≈ lmdb at 100k, duckdb from 1M`.
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

/// `lmdb`, `berkeleydb ≈ lmdb`, `berkeleydb ≈ lmdb +2`.
fn names(fastest: &Fastest<'_>) -> String {
    let names = fastest.engines.iter().take(MOST_NAMES).map(|engine| text::plain(engine));
    let names = text::joined(names, &format!(" {NOT_SIGNIFICANT} "));
    match fastest.engines.len().saturating_sub(MOST_NAMES) {
        0 => names,
        more => format!("{names} +{more}"),
    }
}

/// The turns of the one screen, those that matter most first.
pub(crate) fn order_turns(scaling: &Scaling<'_>) -> Vec<String> {
    let several =
        text::unique(scaling.phases.iter().map(|one| one.series.within.workload)).len() > 1;
    let says = |turn: &Overtaking<'_>| match several {
        true => format!("{}: {}", text::plain(turn.within.workload), turn.briefly()),
        false => turn.briefly(),
    };
    text::unique(scaling.turns.iter().map(says))
}

/// Engines with surprises that nothing explains, and where: `rocksdb read, update`.
pub(crate) fn unexplained(scaling: &Scaling<'_>) -> Vec<String> {
    let open = scaling.told.iter().filter(|one| !one.explained);
    let phases = open.flat_map(|one| one.phases.iter().map(|phase| (one.engine, phase.clone())));
    let line = |(engine, phases): (&str, Vec<String>)| {
        format!("{} {}", text::plain(engine), phases.join(", "))
    };
    text::by_key(phases).into_iter().map(line).collect()
}

/// Every surprise: of an engine those with one reason together.
pub(crate) fn notes(scaling: &Scaling<'_>) -> Vec<Note> {
    scaling.told.iter().map(|one| note(text::plain(one.engine), one.says.clone())).collect()
}
