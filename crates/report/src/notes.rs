//! Notes below the tables: what the marks mean, why a cell has no figures, and how the figures were
//! measured.

mod checked;
pub(crate) mod energy;
pub(crate) mod failures;
pub(crate) mod network;
mod pipelined;
mod placed_figure;
mod provenance;
mod reading;
mod repeated;
mod sharing;
mod steady;
pub(crate) mod storage;
mod timed;

use std::path::Path;

use embermark_model::result::{Cell, PhaseResult, ResultFile};

pub(crate) use provenance::{hardware, machine};

use crate::drift::{self, Drift};
use crate::evidence::{self, TierStanding};
use crate::note::{Note, Section, names, non_empty, note};
use crate::scaling::{self, Scaling};
use crate::summary::Comparison;
use crate::text;

/// Marks engines whose figures were left out because their licence forbids publishing them.
pub(crate) const LEFT_OUT: &str = "left out by licence";

/// Returns the warning at the top of a report with figures that may not be published.
pub(crate) fn notice(file: &ResultFile) -> Option<String> {
    unpublishable_notice(&file.unpublishable())
}

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
        ("Answers", checked::notes(file)),
        ("Times by a client's own clock", timed::notes(file)),
        ("Changes sent together", pipelined::notes(file)),
        ("Until steady", steady::notes(file)),
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
