//! Pairs two results: what both have, and what one lacks.

use std::collections::{HashMap, HashSet};

use embermark_model::result::{Cell, ResultFile};
use embermark_model::{CellId, Status};
use serde::Serialize;

use crate::summary::{Figure, Phases, Shortfall, Shortfalls};
use crate::text;

/// What two results have in common and what they do not.
#[derive(Default)]
pub(crate) struct Pairs<'a> {
    /// Each phase with figures in both files, in the order of the old file's cells.
    pub phases: Vec<PhasePair<'a>>,
    /// Each cell or phase that completed in only one file.
    pub turned: Vec<StatusChange>,
    /// Cells that only the old file has.
    pub only_old: Vec<CellId>,
    /// Cells that only the new file has.
    pub only_new: Vec<CellId>,
}

/// One phase of one cell with figures in both files. In pairs, the old file comes first.
pub(crate) struct PhasePair<'a> {
    /// The cell.
    pub cell: &'a CellId,
    /// The phase.
    pub phase: &'a str,
    /// Whether its engine is only a reference.
    pub reference: bool,
    /// The times.
    pub figures: [Figure<'a>; 2],
    /// What its cell failed to do.
    pub shortfalls: [Option<Shortfall<'a>>; 2],
}

impl PhasePair<'_> {
    /// Whether this phase kept up in the old file only.
    pub fn no_longer_keeps_up(&self) -> bool {
        self.shortfalls.map(|of| of.is_some_and(|of| of.phase == self.phase)) == [false, true]
    }

    /// Describes what was not done, `old lost 3 of 40,000, new lost 24,261 of 40,000`. `None` if
    /// both kept up.
    pub fn lacking(&self) -> Option<String> {
        let known = ["old", "new"].into_iter().zip(&self.shortfalls).filter_map(|(which, of)| {
            Some(format!("{which} {}", of.as_ref()?.words(Some(self.phase))))
        });
        let known = text::joined(known, ", ");
        (!known.is_empty()).then_some(known)
    }
}

/// A cell, or one of its phases, that completed in only one file, or of which more trials were lost
/// in the new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// The cell.
    pub cell: CellId,
    /// The phase. Absent if the cell had no phase.
    pub phase: Option<String>,
    /// Status in the old file.
    pub was: Status,
    /// Status in the new file.
    pub is: Status,
    /// The reason, if it did not complete.
    pub reason: Option<String>,
    /// Whether it was correct before, and is now wrong, disputed, failed or timed out.
    pub broke: bool,
}

impl StatusChange {
    /// Describes the change: `ok, then wrong`.
    pub fn words(&self) -> String {
        format!("{}, then {}", self.was, self.is)
    }
}

/// Pairs `old` and `new`.
pub(crate) fn pairs<'a>(old: &'a ResultFile, new: &'a ResultFile) -> Pairs<'a> {
    let mut pairs = Pairs::default();
    let after: HashMap<&CellId, &Cell> = new.cells.iter().map(|cell| (&cell.id, cell)).collect();
    for before in &old.cells {
        match after.get(&before.id) {
            Some(after) => pair(&mut pairs, before, after),
            None => pairs.only_old.push(before.id.clone()),
        }
    }
    let before: HashSet<&CellId> = old.cells.iter().map(|cell| &cell.id).collect();
    let added = new.cells.iter().filter(|cell| !before.contains(&cell.id));
    pairs.only_new = added.map(|cell| cell.id.clone()).collect();
    pairs
}

fn pair<'a>(pairs: &mut Pairs<'a>, before: &'a Cell, after: &'a Cell) {
    let phases = before.trials.iter().chain(&after.trials).flat_map(|trial| &trial.phases);
    let names = text::unique(phases.map(|part| part.phase.as_str()));
    let [old, new] = [before, after].map(Side::new);
    for phase in names {
        match (old.outcome(phase), new.outcome(phase)) {
            ((was, Some(before)), (is, Some(after))) if was.has_figures() && is.has_figures() => {
                pairs.phases.push(PhasePair {
                    cell: &old.cell.id,
                    phase,
                    // A reference that slows down shows a change of the machine.
                    reference: old.cell.reference,
                    figures: [before, after],
                    shortfalls: [old.shortfalls.at(Some(phase)), new.shortfalls.at(Some(phase))],
                });
            }
            ((was, _), (is, _)) => pairs.turned.extend(turn(before, after, Some(phase), was, is)),
        }
    }
    // A cell may fail in a way that none of its phases shows, such as a crash between two.
    if !pairs.turned.iter().any(|turn| turn.cell == before.id) {
        let turned = turn(before, after, None, before.status, after.status);
        pairs.turned.extend(turned.or_else(|| lost(before, after)));
    }
}

/// Returns that a larger share of the trials was lost than before, in a cell with figures in both
/// files. An engine that crashes now and then has figures of its other trials.
fn lost(before: &Cell, after: &Cell) -> Option<StatusChange> {
    let worst = after.lost_trials.iter().max_by_key(|trial| trial.status)?;
    let lost_of = |of: &Cell| (of.lost_trials.len(), of.lost_trials.len() + of.trials.len());
    let ((was_lost, was_of), (lost, of)) = (lost_of(before), lost_of(after));
    let reason = worst.reason.as_deref().unwrap_or("no reason is recorded");
    // The files may have another number of trials: 1 of 5 is more than 2 of 20.
    (lost * was_of > was_lost * of).then(|| StatusChange {
        cell: before.id.clone(),
        phase: None,
        was: before.status,
        is: worst.status,
        reason: Some(format!("{lost} of {of} trials, of which one: {reason}")),
        broke: true,
    })
}

/// A cell of one of the files, whose phases are found by name.
struct Side<'a> {
    cell: &'a Cell,
    phases: Phases<'a>,
    shortfalls: Shortfalls<'a>,
}

impl<'a> Side<'a> {
    fn new(cell: &'a Cell) -> Self {
        Self { cell, phases: Phases::new(cell), shortfalls: Shortfalls::new(cell) }
    }

    /// Returns how a phase ended over all trials, and its figure. A phase that the cell never
    /// reached has the status of the cell.
    fn outcome(&self, phase: &str) -> (Status, Option<Figure<'a>>) {
        let parts = self.phases.at(phase);
        let status = parts.iter().map(|(_, part)| part.status).reduce(Status::worst);
        let status = status.unwrap_or(self.cell.status);
        (status, Figure::from_parts(parts).filter(|_| status.has_figures()))
    }
}

fn turn(
    before: &Cell,
    after: &Cell,
    phase: Option<&str>,
    was: Status,
    is: Status,
) -> Option<StatusChange> {
    (was.has_figures() != is.has_figures()).then(|| StatusChange {
        cell: before.id.clone(),
        phase: phase.map(str::to_owned),
        was,
        is,
        reason: reason(if is.has_figures() { before } else { after }, phase),
        broke: was.has_figures() && (is.is_failure() || is == Status::Disputed),
    })
}

/// Returns the reason nearest to the fault: that of the phase, or that of the cell.
fn reason(cell: &Cell, phase: Option<&str>) -> Option<String> {
    let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
    let mut of_phase = parts.filter(|part| Some(part.phase.as_str()) == phase);
    of_phase.find_map(|part| part.reason.clone()).or_else(|| cell.reason.clone())
}
