//! Strengths and weaknesses of each engine.

use std::collections::HashSet;

use textwrap::core::display_width;

use super::means::{Line, Step};
use super::{View, naming};
use crate::summary::{Comparison, Group};
use crate::{Options, format, table, text};

/// Largest number of phases that are named on either side.
const MOST: usize = 3;
/// Number of spaces between two columns.
const GAP: usize = 2;
/// Smallest width of a column of phases.
const LEAST: usize = 20;

/// A competing engine, over all phases of a tier.
struct Strengths {
    /// Its name.
    name: String,
    /// Number of phases in which it is the fastest.
    leads: usize,
    /// Number of phases.
    of: usize,
    /// Phases with their ratios: the best first, and the worst first.
    best: Vec<String>,
    worst: Vec<String>,
}

/// A phase of one engine.
struct Phase<'a> {
    group: &'a Group<'a>,
    step: &'a Step<'a>,
    ratio: f64,
    /// For the fastest engine, the ratio of the next one. Otherwise 1.
    lead: f64,
}

/// Returns one line per engine with its best and worst phases. `None` if fewer than two engines
/// compete.
pub(super) fn block(view: &View<'_>, lines: &[&Line<'_>]) -> Option<String> {
    let competing = lines.iter().flat_map(|line| {
        let tier = line.group.durability;
        line.group.engines.iter().filter(move |engine| engine.ranked(tier))
    });
    let engines = text::unique(competing.map(|engine| engine.id));
    let all: Vec<Strengths> =
        engines.iter().filter_map(|engine| strengths(view.comparison, lines, engine)).collect();
    (all.len() > 1).then(|| laid_out(&all, view.options))
}

fn strengths(comparison: &Comparison<'_>, lines: &[&Line<'_>], engine: &str) -> Option<Strengths> {
    let mut phases: Vec<Phase<'_>> = Vec::new();
    let mut of = 0;
    for Line { group, steps, .. } in lines {
        let place = group.engines.iter().position(|other| other.id == engine);
        let Some(place) = place else { continue };
        of += steps.len();
        for step in steps {
            if let Some(ratio) = step.ratios[place] {
                phases.push(Phase { group, step, ratio, lead: lead(group, step, place) });
            }
        }
    }
    phases.sort_by(|a, b| a.ratio.total_cmp(&b.ratio).then(b.lead.total_cmp(&a.lead)));
    let leads = phases.iter().filter(|phase| phase.ratio <= 1.0).count();
    let (best, worst) = phases.split_at(phases.len().div_ceil(2));
    (!phases.is_empty()).then(|| Strengths {
        name: text::plain(engine),
        leads,
        of,
        best: named(comparison, best.iter()),
        worst: named(comparison, worst.iter().rev().filter(|phase| phase.ratio > 1.0)),
    })
}

/// Names the first of `phases` with their ratios. A phase with several variants or scales is named
/// once.
fn named<'a>(
    comparison: &Comparison<'_>,
    phases: impl Iterator<Item = &'a Phase<'a>>,
) -> Vec<String> {
    let mut seen = HashSet::new();
    let first = phases.filter(|of| seen.insert((of.group.workload, of.step.row.phase))).take(MOST);
    let name = |Phase { group, step, ratio, .. }: &Phase<'_>| {
        let variant = step.row.variant.unwrap_or(group.variant);
        let name = naming::phase(comparison, group, step.row.phase, variant);
        format!("{name} {}", format::ratio(*ratio))
    };
    first.map(name).collect()
}

/// Returns the ratio of the next engine for the fastest engine in a phase. Otherwise, or if there
/// is no other engine, returns 1.
fn lead(group: &Group<'_>, step: &Step<'_>, place: usize) -> f64 {
    let is_other = |at: &usize| *at != place && group.engines[*at].ranked(group.durability);
    let others = (0..group.engines.len()).filter(is_other).filter_map(|at| step.ratios[at]);
    match step.ratios[place] {
        Some(ratio) if ratio <= 1.0 => others.reduce(f64::min).unwrap_or(1.0),
        _ => 1.0,
    }
}

/// Lays out one line per engine, with as many phases on either side as fit. If not even one fits,
/// the counts are left out. Text that is still too long continues on the next line.
fn laid_out(all: &[Strengths], options: &Options<'_>) -> String {
    let mut lines = rows(all, options.width, true);
    if lines.iter().any(|row| row.lines().count() > 1) {
        lines = rows(all, options.width, false);
    }
    lines[0] = table::heading(&lines[0], options);
    lines.join("\n")
}

/// Returns the heading and a row per engine, in `width` columns.
fn rows(all: &[Strengths], width: usize, counts: bool) -> Vec<String> {
    let column = |head: &str, text: &dyn Fn(&Strengths) -> String| -> Vec<String> {
        [head.to_owned()].into_iter().chain(all.iter().map(text)).collect()
    };
    let widest = |texts: &Vec<String>| texts.iter().map(|text| display_width(text)).max();
    let mut columns = vec![column("", &|one| one.name.clone())];
    let count = |one: &Strengths| format::part(one.leads as u64, one.of as u64);
    columns.extend(counts.then(|| column("fastest", &count)));
    let mut widths: Vec<usize> = columns.iter().filter_map(widest).collect();
    let used: usize = widths.iter().map(|width| width + GAP).sum();
    let room = width.saturating_sub(used + GAP).max(2 * LEAST);
    columns.push(column("best at", &|one| fitting(&one.best, room / 2)));
    // The second column gets the room that the first leaves.
    let left = columns.last().and_then(widest).unwrap_or(0).min(room / 2);
    columns.push(column("worst at", &|one| fitting(&one.worst, room - left)));
    widths.extend([left, room - left]);
    let text = |at: usize| columns.iter().map(|texts| texts[at].as_str()).collect::<Vec<&str>>();
    (0..=all.len()).map(|at| row(&text(at), &widths)).collect()
}

/// Joins as many of `phases` as fit, but at least the first.
fn fitting(phases: &[String], width: usize) -> String {
    let all = (1..=phases.len()).rev().map(|most| phases[..most].join(", "));
    let fits = all.clone().find(|text| display_width(text) <= width);
    fits.or_else(|| phases.first().cloned()).unwrap_or_else(|| format::NOT_MEASURED.to_owned())
}

/// Formats one row in as many lines as its longest column needs.
fn row(texts: &[&str], widths: &[usize]) -> String {
    let columns = texts.iter().zip(widths);
    let columns: Vec<Vec<String>> =
        columns.map(|(text, width)| table::wrapped(text, *width, "", "  ")).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let parts = columns.iter().zip(widths).map(|(lines, width)| {
            table::pad_right(lines.get(at).map_or("", String::as_str), *width)
        });
        parts.collect::<Vec<String>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<String>>().join("\n")
}
