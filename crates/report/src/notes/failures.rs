//! Why a cell or a phase has no figures: each reason once, with its places.

use embermark_model::result::{Cell, LEFT_OUT, PhaseResult, ResultFile, Trial};
use embermark_model::{CellId, Status};

use crate::note::{Note, note};
use crate::text;

/// Longest reason that is shown, in characters. The result file has all of it.
const LONGEST_REASON: usize = 400;
/// Largest number of places that are named for one reason.
const MOST_PLACES: usize = 3;

/// Why one cell, or one phase of it, has no figures.
struct Reason<'a> {
    cell: &'a Cell,
    phase: Option<&'a str>,
    status: Status,
    text: Option<&'a str>,
    log: Option<&'a str>,
    /// Whether it is the reason of a lost trial.
    lost: bool,
}

/// A reason that several cells of one engine share.
pub(crate) struct Failure<'a> {
    pub engine: &'a str,
    pub status: Status,
    pub text: String,
    log: Option<&'a str>,
    /// Each cell or phase with this reason.
    pub places: Vec<FailedWork<'a>>,
}

/// A cell, or one phase of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FailedWork<'a> {
    pub id: &'a CellId,
    pub phase: Option<&'a str>,
}

pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    failures(file).iter().map(|failure| failure.note(file)).collect()
}

/// Lists why cells and phases have no figures, the worst first.
pub(crate) fn failures(file: &ResultFile) -> Vec<Failure<'_>> {
    let keyed = |Reason { cell, phase, status, text, log, lost }| {
        let mut text = text::clipped(text.unwrap_or("no reason recorded"), LONGEST_REASON);
        if lost {
            text += "; the figures are of the other trials";
        }
        let id: &CellId = &cell.id;
        ((id.engine.as_str(), status, text), (FailedWork { id, phase }, log))
    };
    let reasons = text::by_key(file.cells.iter().flat_map(reasons).map(keyed));
    let mut failures = Vec::new();
    for ((engine, status, text), seen) in reasons {
        let places = crate::text::unique(seen.iter().map(|(place, _)| *place));
        failures.push(Failure { engine, status, text, log: seen[0].1, places });
    }
    // The most important failure comes first.
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.status));
    failures
}

/// Returns the most specific reasons of one cell: those of phases, or of trials, or of the cell.
fn reasons(cell: &Cell) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for trial in cell.trials.iter().chain(&cell.lost_trials) {
        let lost = cell.is_lost(trial);
        let of_phases = phase_reasons(cell, trial, lost);
        let explained = of_phases.iter().any(|reason| reason.status == trial.status);
        reasons.extend(of_phases);
        if !explained && !trial.status.has_figures() {
            let text = trial.reason.as_deref().or(cell.reason.as_deref());
            let (status, log) = (trial.status, log(trial));
            reasons.push(Reason { cell, phase: None, status, text, log, lost });
        }
    }
    let explained = reasons.iter().any(|reason| reason.status == cell.status);
    if !explained && !cell.status.has_figures() {
        let (status, text) = (cell.status, cell.reason.as_deref());
        reasons.push(Reason { cell, phase: None, status, text, log: None, lost: false });
    }
    reasons
}

fn phase_reasons<'a>(cell: &'a Cell, trial: &'a Trial, lost: bool) -> Vec<Reason<'a>> {
    let reason = |part: &'a PhaseResult| Reason {
        cell,
        phase: Some(&part.phase),
        status: part.status,
        text: part.reason.as_deref().or(trial.reason.as_deref()),
        log: log(trial),
        lost,
    };
    trial.phases.iter().filter(|part| !part.status.has_figures()).map(reason).collect()
}

fn log(trial: &Trial) -> Option<&str> {
    trial.log.as_deref().filter(|_| trial.status.is_failure())
}

impl FailedWork<'_> {
    /// Describes a place: `outages of sensors 10k process single`.
    fn says(&self) -> String {
        let CellId { workload, durability, variant, .. } = self.id;
        let phase = self.phase.map(|phase| format!("{phase} of ")).unwrap_or_default();
        text::plain(&format!("{phase}{workload} {} {durability} {variant}", self.id.extent()))
    }
}

impl Failure<'_> {
    fn note(&self, file: &ResultFile) -> Note {
        let places: Vec<String> = self.places.iter().map(FailedWork::says).collect();
        let places = match self.is_everywhere(file) {
            true => String::new(),
            false => format!(", {}", text::first(&places, MOST_PLACES)),
        };
        let log = self.log.map(|log| format!(" (log: {})", text::plain(log))).unwrap_or_default();
        let says = match self.is_left_out() {
            true => format!("{}{places}", self.text),
            false => format!("{}{places}: {}{log}", self.status, self.text),
        };
        note(text::plain(self.engine), says)
    }

    /// Whether its figures were left out because its licence forbids publishing them.
    pub fn is_left_out(&self) -> bool {
        self.status == Status::Unavailable && self.text == LEFT_OUT
    }

    /// Whether all cells of the engine ended this way. False if it has only one.
    pub fn is_everywhere(&self, file: &ResultFile) -> bool {
        let all = file.cells.iter().filter(|cell| cell.id.engine == self.engine).count();
        all > 1 && self.places.iter().filter(|place| place.phase.is_none()).count() == all
    }
}
