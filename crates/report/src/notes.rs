//! Notes below the tables: what the marks mean, why a cell has no figures, and how the figures were
//! measured.

pub(crate) mod energy;
pub(crate) mod failures;
pub(crate) mod network;
mod pipelined;
mod provenance;
mod reading;
mod repeated;
mod sharing;
pub(crate) mod storage;
mod timed;

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::result::{Cell, PhaseResult, ResultFile};

pub(crate) use provenance::{hardware, machine};

use crate::drift::{self, Drift};
use crate::evidence::{self, TierStanding};
use crate::note::{Note, Section, names, non_empty, note};
use crate::scaling::{self, Scaling};
use crate::summary::{Comparison, Engine, Group, Measured, Row};
use crate::{format, text};

/// Marks engines whose figures were left out because their licence forbids publishing them.
pub(crate) const LEFT_OUT: &str = "left out by licence";

/// Returns the warning at the top of a report with figures of these engines that may not be
/// published.
pub(crate) fn unpublishable_notice(engines: &[impl AsRef<str>]) -> Option<String> {
    Some(unpublishable_text(engines)? + " (--publishable leaves them out)")
}

/// Returns the statement that figures of these engines may not be published.
pub(crate) fn unpublishable_text(engines: &[impl AsRef<str>]) -> Option<String> {
    let named = names(engines.iter().map(|engine| text::plain(engine.as_ref())));
    let says = "NOT TO BE PUBLISHED: the licence forbids publishing figures of";
    (!engines.is_empty()).then(|| format!("{says} {named}"))
}

/// Returns every phase of every trial with its cell.
fn phases(file: &ResultFile) -> impl Iterator<Item = (&Cell, &PhaseResult)> {
    let cells = file.cells.iter();
    let trials = cells.flat_map(|cell| cell.trials.iter().map(move |trial| (cell, trial)));
    trials.flat_map(|(cell, trial)| trial.phases.iter().map(move |phase| (cell, phase)))
}

/// A measurement with its group, its row and its engine.
type PlacedFigure<'a> = (&'a Group<'a>, &'a Row<'a>, &'a Engine<'a>, &'a Measured<'a>);

/// Names the position of a figure: `postgres load (commit-each), sensors 10k process`.
fn position((group, row, engine, _): &PlacedFigure<'_>) -> String {
    let (phase, variant) = (row.phase.unwrap_or_default(), row.variant.unwrap_or(group.variant));
    let Group { workload, durability, .. } = group;
    let place = format!("{workload} {} {durability}", group.extent);
    text::plain(&format!("{} {phase} ({variant}), {place}", engine.name()))
}

/// Returns every note of a report, in sections.
pub(crate) fn sections(
    comparison: &Comparison<'_>,
    scaling: &Scaling<'_>,
    durability: &[TierStanding],
    path: Option<&Path>,
) -> Vec<Section> {
    let file = comparison.file;
    non_empty([
        ("Not ok", failures::notes(file)),
        ("Answers", checked(file)),
        ("Times by a client's own clock", timed::notes(file)),
        ("Changes sent together", pipelined::notes(file)),
        ("Until steady", until_steady(file)),
        ("Short runs", repeated::notes(file)),
        ("Surprises", scaling::notes(scaling)),
        ("Warnings", warnings(file)),
        ("Storage", storage::notes(file)),
        ("Network", network::notes(file)),
        ("Durability", evidence::notes(durability)),
        ("Energy and wear", energy::notes(file)),
        ("How to read it", reading::notes(comparison, scaling)),
        ("Measured with", provenance::notes(file, path)),
    ])
}

/// Lists what confirmed the answers that no oracle checks, with their phases: `agreed by sqlite and
/// duckdb: shop cities, shop regions`.
fn checked(file: &ResultFile) -> Vec<Note> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cell, phase) in phases(file) {
        let Some(by) = &phase.checked_by else { continue };
        let place = text::plain(&format!("{} {}", cell.id.workload, phase.phase));
        places.entry(by).or_default().push(place);
    }
    let line = |(by, places)| note("", format!("{}: {}", text::plain(by), names(places)));
    places.into_iter().map(line).collect()
}

/// Returns a line for each run of a mix that continues until it is steady: `sqlite rw both: steady
/// after 12.3 s` or `not steady after 10 min: read`.
fn until_steady(file: &ResultFile) -> Vec<Note> {
    let mut lines = Vec::new();
    for (cell, phase) in phases(file) {
        for steady in phase.runs.iter().filter_map(|run| run.steady.as_ref()) {
            let what = format!("{} {} {}", cell.id.engine, cell.id.workload, phase.phase);
            let after = format::duration(steady.after_s * 1e9);
            let restless = steady.figures.iter().filter(|(_, figure)| !figure.steady);
            let restless = text::joined(restless.map(|(name, _)| name.clone()), ", ");
            let says = match steady.reached {
                true => format!("{what}: steady after {after}"),
                false => format!("{what}: not steady after {after}: {restless}"),
            };
            lines.push(note("", text::plain(&says)));
        }
    }
    lines
}

/// Returns what may have disturbed the figures.
pub(crate) fn warnings(file: &ResultFile) -> Vec<Note> {
    let drift = drift::drift(file).filter(Drift::is_notable);
    let drift = drift.map(|drift| {
        let advice = "repeat the run on a machine that is cool, idle and on mains";
        format!("the machine drifted: {}: {advice}", drift.describe())
    });
    let warnings = file.manifest.warnings.iter().cloned().chain(drift);
    let warnings = warnings.map(|warning| note("", text::plain(&warning)));
    warnings.chain(storage::fast(file)).chain(storage::late(file)).collect()
}
