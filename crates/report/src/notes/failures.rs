//! Why a cell or a phase has no figures: each reason once, with the places it holds for.

use embermark_model::Status;
use embermark_model::result::{Cell, ResultFile, Trial};

use super::{Note, note};
use crate::text;

/// The longest reason shown, in characters; the result file has it whole.
const LONGEST_REASON: usize = 400;
/// The most places named for one reason.
const MOST_PLACES: usize = 3;

/// Why one cell, or one phase of it, has no figures.
struct Reason<'a> {
    cell: &'a Cell,
    phase: Option<&'a str>,
    status: Status,
    text: Option<&'a str>,
    log: Option<&'a str>,
}

/// What several cells of one engine have in common.
struct Failure<'a> {
    engine: &'a str,
    status: Status,
    text: String,
    log: Option<&'a str>,
    /// Each cell, or phase of one, that ended so.
    places: Vec<String>,
    /// Whole cells among the places.
    cells: usize,
}

pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for reason in file.cells.iter().flat_map(reasons) {
        let text = text::clipped(reason.text.unwrap_or("no reason recorded"), LONGEST_REASON);
        let engine = reason.cell.id.engine.as_str();
        let same = |known: &Failure<'_>| {
            (known.engine, known.status, &known.text) == (engine, reason.status, &text)
        };
        let index = failures.iter().position(same).unwrap_or(failures.len());
        if index == failures.len() {
            let Reason { status, log, .. } = reason;
            failures.push(Failure { engine, status, text, log, places: Vec::new(), cells: 0 });
        }
        let (failure, place) = (&mut failures[index], place(&reason));
        if !failure.places.contains(&place) {
            failure.places.push(place);
            failure.cells += usize::from(reason.phase.is_none());
        }
    }
    // The worst first: what a reader must not miss stands where reading begins.
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.status));
    failures.iter().map(|failure| failure.note(file)).collect()
}

/// The reasons of one cell, those nearest to the fault: of a phase, else of a trial, else its own.
fn reasons(cell: &Cell) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for trial in &cell.trials {
        let of_phases = phase_reasons(cell, trial);
        let explained = of_phases.iter().any(|reason| reason.status == trial.status);
        reasons.extend(of_phases);
        if !explained && !trial.status.has_figures() {
            let text = trial.reason.as_deref().or(cell.reason.as_deref());
            reasons.push(Reason { cell, phase: None, status: trial.status, text, log: log(trial) });
        }
    }
    let explained = reasons.iter().any(|reason| reason.status == cell.status);
    if !explained && !cell.status.has_figures() {
        let text = cell.reason.as_deref();
        reasons.push(Reason { cell, phase: None, status: cell.status, text, log: None });
    }
    reasons
}

fn phase_reasons<'a>(cell: &'a Cell, trial: &'a Trial) -> Vec<Reason<'a>> {
    let bad = trial.phases.iter().filter(|part| !part.status.has_figures());
    bad.map(|part| Reason {
        cell,
        phase: Some(&part.phase),
        status: part.status,
        text: part.reason.as_deref().or(trial.reason.as_deref()),
        log: log(trial),
    })
    .collect()
}

fn log(trial: &Trial) -> Option<&str> {
    trial.log.as_deref().filter(|_| trial.status.is_failure())
}

/// `outages of sensors 10k process single`.
fn place(reason: &Reason<'_>) -> String {
    let id = &reason.cell.id;
    let phase = reason.phase.map(|phase| format!("{} of ", text::plain(phase))).unwrap_or_default();
    let (workload, variant) = (text::plain(&id.workload), text::plain(&id.variant));
    format!("{phase}{workload} {} {} {variant}", id.scale, id.durability)
}

impl Failure<'_> {
    fn note(&self, file: &ResultFile) -> Note {
        let of_engine = file.cells.iter().filter(|cell| cell.id.engine == self.engine).count();
        let everywhere = of_engine > 1 && self.cells == of_engine;
        let places = match self.places.len().saturating_sub(MOST_PLACES) {
            _ if everywhere => String::new(),
            0 => format!(", {}", self.places.join(", ")),
            more => format!(", {} and {more} more", self.places[..MOST_PLACES].join(", ")),
        };
        let log = self.log.map(|log| format!(" (log: {})", text::plain(log))).unwrap_or_default();
        note(text::plain(self.engine), format!("{}{places}: {}{log}", self.status, self.text))
    }
}
