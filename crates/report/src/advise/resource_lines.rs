//! Resources as lines of criteria: what engines used for the phases that all of them did.

use std::collections::HashSet;

use embermark_model::result::{Cell, Counts, PhaseResult, Trial};

use super::criteria::Work as CriterionWork;
use super::line::{Lack, Line};
use super::wear;
use crate::flash;
use crate::kinds::Kinds;
use crate::statistics::FEWEST_TRIALS;
use crate::summary::{Combined, Group, Resource, Shortfall, Work, memory_floor};
use crate::text;

/// Smallest difference of memory above the harness's floor, in bytes. The resident memory of the
/// same work differs by as much between trials.
const LEAST_MEMORY: f64 = 262_144.0;

/// Sizes below one page of 4,096 bytes count as one page. Memory and storage come in pages, and an
/// engine that wrote nothing would otherwise be infinitely better than one that wrote a page.
const PAGE: f64 = 4_096.0;

/// Phases of one variant whose amounts are added up.
struct Part<'a> {
    variant: &'a str,
    phases: Vec<&'a str>,
}

/// Makes a line for each workload from what the phases of its main variant used, as far as every
/// engine did them. The work of `ingest` has one line per phase.
pub(super) fn lines<'a>(
    groups: &[&Group<'a>],
    kinds: &Kinds<'_>,
    resource: Resource,
    work: CriterionWork,
) -> Vec<Line<'a>> {
    let of_group = |group: &&Group<'a>| {
        let parts = match work {
            CriterionWork::Main => vec![main(group)],
            CriterionWork::Ingest => ingest(kinds, group),
        };
        parts.into_iter().map(|part| line(group, resource, &part)).collect::<Vec<_>>()
    };
    groups.iter().flat_map(of_group).collect()
}

fn main<'a>(group: &Group<'a>) -> Part<'a> {
    let own = group.rows.iter().filter(|row| row.variant.is_none());
    Part { variant: group.variant, phases: own.filter_map(|row| row.phase).collect() }
}

fn ingest<'a>(kinds: &Kinds<'_>, group: &Group<'a>) -> Vec<Part<'a>> {
    let of = |variant, phase: &'a str| {
        let counts = kinds.count((group.workload, variant, phase), Counts::Ingest);
        counts.then(|| Part { variant, phases: vec![phase] })
    };
    let rows = group.rows.iter();
    rows.filter_map(|row| of(row.variant.unwrap_or(group.variant), row.phase?)).collect()
}

fn line<'a>(group: &Group<'a>, resource: Resource, part: &Part<'a>) -> Line<'a> {
    let modelled = resource == Resource::WRITTEN && wear::is_modelled(group);
    let competing = group.engines.iter().filter(|engine| engine.ranked(group.durability));
    let cells: Vec<(&str, &Cell)> = competing
        .filter_map(|engine| Some((engine.id, group.cell(part.variant, engine.id)?)))
        .collect();
    // Otherwise an engine that did none of the work is left out.
    let is_of_cell = resource.combined == Combined::Whole;
    let did = |cell: &Cell| match is_of_cell {
        true => part.phases.iter().copied().collect(),
        false => done(cell, &part.phases, resource),
    };
    let able: Vec<(&str, &Cell, HashSet<&str>)> = cells
        .iter()
        .filter(|(_, cell)| took_part(cell))
        .map(|(engine, cell)| (*engine, *cell, did(cell)))
        .filter(|(.., phases)| !phases.is_empty())
        .collect();
    let common = |phase: &&&str| able.iter().all(|(.., own)| own.contains(*phase));
    let common: Vec<&str> = part.phases.iter().filter(common).copied().collect();
    let names: HashSet<&str> = common.iter().copied().collect();
    let amounts = |cell: &Cell| match modelled {
        true => flash::programmed(group.file, cell, &common).into_iter().collect(),
        false if is_of_cell => resource.per_trial(cell, Work::All),
        false => resource.per_trial(cell, Work::Whole(&names)),
    };
    // Counts have no error, so the interval is the ratio itself.
    let times = if resource.is_counted() { FEWEST_TRIALS } else { 1 };
    let peak = resource == Resource::PEAK;
    let least = match peak {
        true => LEAST_MEMORY,
        false if [Resource::WRITTEN, Resource::DISK].contains(&resource) => PAGE,
        false => 0.0,
    };
    let values = able.iter().map(|(engine, cell, _)| {
        // The memory of the harness is subtracted where it was measured.
        let floor = peak.then(|| memory_floor(group.file, cell, &common)).flatten().unwrap_or(0.0);
        let amounts = amounts(cell).repeat(times);
        (*engine, amounts.into_iter().map(|amount| (amount - floor).max(least)).collect())
    });
    let place = group.place();
    let lacking = cells.iter().map(|(engine, cell)| {
        let why = match Shortfall::find(cell, None) {
            Some(shortfall) => Lack::Undone(shortfall.words(None)),
            None if !took_part(cell) => Lack::Ended(cell.status),
            None if !cell.status.has_figures() && did(cell).is_empty() => Lack::Ended(cell.status),
            None => Lack::NotMeasured,
        };
        (*engine, format!("{place} {}", text::plain(part.variant)), why)
    });
    Line::new(group, values.collect(), lacking.collect())
}

/// Whether a cell did its work, apart from phases that its engine cannot do.
fn took_part(cell: &Cell) -> bool {
    let ended = cell.status.has_figures() || cell.status.concerns_only_phase();
    ended && Shortfall::find(cell, None).is_none()
}

/// Returns the phases that a cell did in every trial, or in its counting trial if the resource is
/// counted.
fn done<'a, 'c>(cell: &'c Cell, phases: &[&'a str], resource: Resource) -> HashSet<&'a str> {
    let trials: Vec<&'c Trial> = match resource.is_counted() {
        true => cell.counting.as_deref().into_iter().collect(),
        false => cell.trials.iter().collect(),
    };
    let did = |part: &&'c PhaseResult| {
        part.status.has_figures() && part.runs.iter().any(|run| !run.discarded)
    };
    let names = |trial: &'c Trial| trial.phases.iter().filter(did).map(|part| &*part.phase);
    let did: Vec<HashSet<&str>> = trials.into_iter().map(|trial| names(trial).collect()).collect();
    let every = |name: &&&str| !did.is_empty() && did.iter().all(|own| own.contains(*name));
    phases.iter().filter(every).copied().collect()
}
