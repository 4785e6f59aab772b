//! Two results side by side: what became faster or slower, and whether they may be compared at all.
//! `docs/compare.md` has the rule.

mod manifests;
mod render;

use std::collections::{HashMap, HashSet};

use embermark_model::result::{Cell, ResultFile};
use embermark_model::{CellId, Status};
use serde::Serialize;

pub use manifests::{Differences, conditions, differences, unpoolable};
pub use render::{csv, json, markdown, table};

use crate::statistics::{discoveries, includes_one, ratio_interval, welch_p};
use crate::summary::{Figure, Phases, Protocol, Shortfalls};
use crate::text;

/// What changed from one result to another.
#[derive(Clone, Debug, Serialize)]
pub struct Changes {
    /// Engines with figures in either file that may not be published.
    pub unpublishable: Vec<String>,
    /// What speaks against the comparison, or must be known to read it.
    pub differences: Differences,
    /// The share from which on a slowdown that is shown is a regression: 0.05 for 5 %.
    pub threshold: f64,
    /// Pairs that have an interval: so many were looked at for a difference.
    pub pairs: usize,
    /// At most this share of those called faster or slower is called so by chance, on average.
    pub false_discovery_rate: f64,
    /// What ran in both, of each workload, scale, tier and variant that has a phase below.
    pub ran: Vec<Ran>,
    /// Each phase with figures in both, in the order of the old file's cells.
    pub phases: Vec<Change>,
    /// Each cell or phase that had figures or an answer and has them in one file only.
    pub turned: Vec<Turn>,
    /// Cells that the old file has and the new one has not.
    pub only_old: Vec<CellId>,
    /// Cells that the new file has and the old one has not.
    pub only_new: Vec<CellId>,
}

/// What ran of a workload at a scale, in a tier and a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// One of its cells.
    #[serde(skip)]
    cell: CellId,
    /// Its name, `sensors 10k · durability process · single`.
    pub title: String,
    /// Runs and trials, `6 runs (1 warm-up) x 3 trials`; of old and new where they differ.
    pub protocol: String,
}

impl Ran {
    fn of(cell: &CellId, old: &ResultFile, new: &ResultFile) -> Self {
        let protocol = |file: &ResultFile| {
            let of = Protocol::of(file.cells.iter().filter(|other| is_of(&other.id, cell)));
            of.map_or_else(|| "nothing that ended well".to_owned(), |of| of.to_string())
        };
        let (workload, variant) = (text::plain(&cell.workload), text::plain(&cell.variant));
        let (old, new) = (protocol(old), protocol(new));
        Self {
            cell: cell.clone(),
            title: format!(
                "{workload} {} · durability {} · {variant}",
                cell.extent(),
                cell.durability
            ),
            protocol: if old == new { old } else { format!("old {old}, new {new}") },
        }
    }

    /// Whether it holds a cell.
    fn holds(&self, cell: &CellId) -> bool {
        is_of(cell, &self.cell)
    }
}

/// Whether two cells differ in their engine alone.
fn is_of(one: &CellId, other: &CellId) -> bool {
    (&one.workload, &one.variant, one.durability, one.extent())
        == (&other.workload, &other.variant, other.durability, other.extent())
}

/// One phase of one cell in both files.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The cell.
    pub cell: CellId,
    /// The phase.
    pub phase: String,
    /// Time per operation in the old file in ns, median over the trials.
    pub old_ns: f64,
    /// In the new one.
    pub new_ns: f64,
    /// New over old: above 1 is slower.
    pub ratio: f64,
    /// The 95 % interval of the ratio; absent with fewer than three trials in either.
    pub interval: Option<[f64; 2]>,
    /// How probable such times are without a difference, by Welch's test; 1 where the interval includes
    /// 1, absent where there is none.
    pub p: Option<f64>,
    /// What its cell did not do in the old file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_shortfall: Option<String>,
    /// In the new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_shortfall: Option<String>,
    /// What that says.
    pub verdict: Verdict,
    /// Its engine is shown for orientation.
    #[serde(skip)]
    reference: bool,
    /// Slower, by more than the threshold, or it kept up and does not any more; and not a reference
    /// engine.
    pub regression: bool,
}

impl Change {
    /// `old lost 3 of 40,000, new lost 24,261 of 40,000`.
    fn shortfalls(&self) -> Option<String> {
        let of = [("old", &self.old_shortfall), ("new", &self.new_shortfall)];
        let known =
            of.iter().filter_map(|(which, of)| Some(format!("{which} {}", (*of).as_ref()?)));
        let known = text::joined(known, ", ");
        (!known.is_empty()).then_some(known)
    }
}

/// The share of false calls that is allowed, on average.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// What a ratio and its interval say, among all pairs of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval lies below 1, and the pair is among those that may be called different.
    Faster,
    /// It lies above 1, likewise.
    Slower,
    /// It includes 1, or among so many pairs it is no evidence.
    NoDifference,
    /// There is none: fewer than three trials in one of the files.
    TooFewTrials,
    /// Its cell did not do all that it was to do in one of the files: times do not tell.
    DidNotKeepUp,
}

impl Verdict {
    /// The word that tables show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference shown",
            Self::TooFewTrials => "too few trials",
            Self::DidNotKeepUp => "did not keep up",
        }
    }
}

/// A cell, or one phase of it, that ended well in one file and not in the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The cell.
    pub cell: CellId,
    /// The phase; absent where the cell had no phase at all.
    pub phase: Option<String>,
    /// How it ended in the old file.
    pub was: Status,
    /// How it ends in the new one.
    pub is: Status,
    /// Why, where it does not end well.
    pub reason: Option<String>,
    /// It was right and is wrong, failed or timed out.
    pub regression: bool,
}

impl Changes {
    /// Whether anything became worse: slower beyond the threshold, no longer keeping up, or no
    /// longer right.
    pub fn regressed(&self) -> bool {
        self.phases.iter().any(|change| change.regression)
            || self.turned.iter().any(|turn| turn.regression)
    }
}

/// Compares `new` with `old`. A pair is called faster or slower where its interval leaves out 1 and the
/// calls of the whole comparison are false in at most [`FALSE_DISCOVERY_RATE`] of cases. A slowdown that
/// is called is a regression where its ratio is above 1 + `threshold`.
pub fn compare(old: &ResultFile, new: &ResultFile, threshold: f64) -> Changes {
    let unpublishable = text::unique(old.unpublishable().into_iter().chain(new.unpublishable()));
    let mut changes = Changes {
        unpublishable: unpublishable.into_iter().map(str::to_owned).collect(),
        ran: Vec::new(),
        differences: differences(old, new),
        threshold,
        pairs: 0,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        phases: Vec::new(),
        turned: Vec::new(),
        only_old: Vec::new(),
        only_new: Vec::new(),
    };
    let after: HashMap<&CellId, &Cell> = new.cells.iter().map(|cell| (&cell.id, cell)).collect();
    for before in &old.cells {
        match after.get(&before.id) {
            Some(after) => pair(&mut changes, before, after),
            None => changes.only_old.push(before.id.clone()),
        }
    }
    judge(&mut changes);
    let before: HashSet<&CellId> = old.cells.iter().map(|cell| &cell.id).collect();
    let added = new.cells.iter().filter(|cell| !before.contains(&cell.id));
    for change in &changes.phases {
        if !changes.ran.iter().any(|ran| ran.holds(&change.cell)) {
            changes.ran.push(Ran::of(&change.cell, old, new));
        }
    }
    changes.only_new = added.map(|cell| cell.id.clone()).collect();
    changes
}

/// Calls a pair faster or slower where that may be said of so many.
fn judge(changes: &mut Changes) {
    let p_values: Vec<f64> = changes.phases.iter().filter_map(|change| change.p).collect();
    changes.pairs = p_values.len();
    let found = discoveries(&p_values, FALSE_DISCOVERY_RATE);
    let judged = changes.phases.iter_mut().filter(|change| change.p.is_some());
    for (change, found) in judged.zip(found) {
        if !found && matches!(change.verdict, Verdict::Faster | Verdict::Slower) {
            change.verdict = Verdict::NoDifference;
        }
        let slower = change.verdict == Verdict::Slower && change.ratio > 1.0 + changes.threshold;
        change.regression |= slower && !change.reference;
    }
}

fn pair(changes: &mut Changes, before: &Cell, after: &Cell) {
    let phases = before.trials.iter().chain(&after.trials).flat_map(|trial| &trial.phases);
    let names = text::unique(phases.map(|part| part.phase.as_str()));
    let [old, new] = [before, after].map(Side::of);
    for name in names {
        match (old.outcome(name), new.outcome(name)) {
            ((was, Some(before)), (is, Some(after))) if was.has_figures() && is.has_figures() => {
                changes.phases.push(change([&old, &new], name, [&before, &after]));
            }
            ((was, _), (is, _)) => changes.turned.extend(turn(before, after, Some(name), was, is)),
        }
    }
    // A cell may end badly in a way that no phase of it shows: a crash between two.
    let shown = changes.turned.iter().any(|turn| turn.cell == before.id);
    if !shown {
        changes.turned.extend(turn(before, after, None, before.status, after.status));
    }
}

/// A cell of one of the files, its phases found by their names.
struct Side<'a> {
    cell: &'a Cell,
    phases: Phases<'a>,
    shortfalls: Shortfalls<'a>,
}

impl<'a> Side<'a> {
    fn of(cell: &'a Cell) -> Self {
        Self { cell, phases: Phases::of(cell), shortfalls: Shortfalls::of(cell) }
    }

    /// How a phase ended over all trials, and its figure. A phase that the cell never came to ended as the
    /// cell did.
    fn outcome(&self, phase: &str) -> (Status, Option<Figure<'a>>) {
        let parts = self.phases.at(phase);
        let status = parts.iter().map(|(_, part)| part.status).reduce(Status::worst);
        let status = status.unwrap_or(self.cell.status);
        (status, Figure::of(parts).filter(|_| status.has_figures()))
    }
}

/// By itself: [`judge`] says what it is among all.
fn change(sides: [&Side<'_>; 2], phase: &str, figures: [&Figure<'_>; 2]) -> Change {
    let [old, new] = figures;
    let cell = sides[0].cell;
    let ratio = new.per_op_ns / old.per_op_ns;
    let interval = ratio_interval(&new.per_trial_ns, &old.per_trial_ns);
    let shortfalls = sides.map(|side| side.shortfalls.at(Some(phase)));
    let verdict = match interval {
        _ if shortfalls.iter().any(Option::is_some) => Verdict::DidNotKeepUp,
        None => Verdict::TooFewTrials,
        Some(ends) if includes_one(ends) => Verdict::NoDifference,
        Some([low, _]) if low > 1.0 => Verdict::Slower,
        Some(_) => Verdict::Faster,
    };
    // Larger than Welch's where the interval includes 1, so no less to be relied on.
    let p = interval.filter(|_| shortfalls.iter().all(Option::is_none)).and_then(|ends| {
        if includes_one(ends) { Some(1.0) } else { welch_p(&new.per_trial_ns, &old.per_trial_ns) }
    });
    let [fell_short, falls_short] = shortfalls.map(|of| of.is_some_and(|of| of.phase == phase));
    let [old_shortfall, new_shortfall] =
        shortfalls.map(|shortfall| Some(shortfall?.beside(Some(phase))));
    Change {
        cell: cell.id.clone(),
        phase: phase.to_owned(),
        old_ns: old.per_op_ns,
        new_ns: new.per_op_ns,
        ratio,
        interval,
        p,
        old_shortfall,
        new_shortfall,
        verdict,
        // A reference that slows down tells of the machine.
        reference: cell.reference,
        regression: falls_short && !fell_short && !cell.reference,
    }
}

fn turn(before: &Cell, after: &Cell, phase: Option<&str>, was: Status, is: Status) -> Option<Turn> {
    let turned = was.has_figures() != is.has_figures();
    turned.then(|| {
        let ended_badly = if is.has_figures() { before } else { after };
        Turn {
            cell: before.id.clone(),
            phase: phase.map(str::to_owned),
            was,
            is,
            reason: reason(ended_badly, phase),
            regression: was.has_figures() && is.is_failure(),
        }
    })
}

/// The reason nearest to the fault: a phase's, else the cell's.
fn reason(cell: &Cell, phase: Option<&str>) -> Option<String> {
    let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
    let mut of_phase = parts.filter(|part| Some(part.phase.as_str()) == phase);
    of_phase.find_map(|part| part.reason.clone()).or_else(|| cell.reason.clone())
}
