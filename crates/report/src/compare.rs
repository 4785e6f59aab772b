//! Two results side by side: what became faster or slower, and whether they may be compared at all.
//! `docs/compare.md` has the rule.

mod manifests;
mod pairs;
mod render;
mod used;

use embermark_model::CellId;
use embermark_model::result::ResultFile;
use serde::Serialize;

pub(crate) use manifests::ONE_RUN;
pub use manifests::{Differences, conditions, differences, unpoolable};
pub use pairs::Turn;
pub(crate) use pairs::{Pairs, PhasePair, pairs};
pub(crate) use render::turned;
pub use render::{csv, json, markdown, table};
pub use used::Used;

use crate::statistics::{discoveries, includes_one, ratio_interval, welch_p};
use crate::summary::Protocol;
use crate::text;

/// What changed from one result to another.
#[derive(Clone, Debug, Serialize)]
pub struct Changes {
    /// Engines with figures in either file that may not be published.
    pub unpublishable: Vec<String>,
    /// What speaks against the comparison, or must be known to read it.
    pub differences: Differences,
    /// Pairs that have an interval: so many were looked at for a difference.
    pub pairs: usize,
    /// At most this share of those called faster or slower is called so by chance, on average.
    pub false_discovery_rate: f64,
    /// What ran in both, of each workload, scale, tier and variant that has a phase below.
    pub ran: Vec<Ran>,
    /// Each phase with figures in both, in the order of the old file's cells.
    pub phases: Vec<Change>,
    /// What engines used, of each cell that did all of its work in both.
    pub used: Vec<Used>,
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
    /// What its cell did not do in either file: `new lost 24,261 of 40,000`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// What that says.
    pub verdict: Verdict,
}

impl Change {
    /// By itself: [`judge`] says what it is among all.
    fn of(pair: &PhasePair<'_>) -> Self {
        let [old, new] = &pair.figures;
        let interval = ratio_interval(&new.per_trial_ns, &old.per_trial_ns);
        let lacking = pair.lacking();
        let verdict = match interval {
            _ if lacking.is_some() => Verdict::DidNotKeepUp,
            None => Verdict::TooFewTrials,
            Some(ends) if includes_one(ends) => Verdict::NoDifference,
            Some([low, _]) if low > 1.0 => Verdict::Slower,
            Some(_) => Verdict::Faster,
        };
        // Larger than Welch's where the interval includes 1, so no less to be relied on.
        let p = interval.filter(|_| lacking.is_none()).and_then(|ends| {
            if includes_one(ends) {
                Some(1.0)
            } else {
                welch_p(&new.per_trial_ns, &old.per_trial_ns)
            }
        });
        Self {
            cell: pair.cell.clone(),
            phase: pair.phase.to_owned(),
            old_ns: old.per_op_ns,
            new_ns: new.per_op_ns,
            ratio: new.per_op_ns / old.per_op_ns,
            interval,
            p,
            lacking,
            verdict,
        }
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

/// Compares `new` with `old`. A pair is called faster or slower where its interval leaves out 1 and the
/// calls of the whole comparison are false in at most [`FALSE_DISCOVERY_RATE`] of cases.
pub fn compare(old: &ResultFile, new: &ResultFile) -> Changes {
    let Pairs { phases, turned, only_old, only_new } = pairs(old, new);
    let mut phases: Vec<Change> = phases.iter().map(Change::of).collect();
    let pairs = judge(&mut phases);
    let mut ran: Vec<Ran> = Vec::new();
    for change in &phases {
        if !ran.iter().any(|ran| ran.holds(&change.cell)) {
            ran.push(Ran::of(&change.cell, old, new));
        }
    }
    Changes {
        unpublishable: unpublishable(old, new),
        differences: differences(old, new),
        pairs,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        ran,
        phases,
        used: used::used(old, new),
        turned,
        only_old,
        only_new,
    }
}

/// Engines with figures in either file that may not be published.
pub(crate) fn unpublishable(old: &ResultFile, new: &ResultFile) -> Vec<String> {
    let engines = text::unique(old.unpublishable().into_iter().chain(new.unpublishable()));
    engines.into_iter().map(str::to_owned).collect()
}

/// Calls a pair faster or slower only where that may be said of so many, and returns how many were looked
/// at.
fn judge(changes: &mut [Change]) -> usize {
    let p_values: Vec<f64> = changes.iter().filter_map(|change| change.p).collect();
    let found = discoveries(&p_values, FALSE_DISCOVERY_RATE);
    let judged = changes.iter_mut().filter(|change| change.p.is_some());
    for (change, found) in judged.zip(found) {
        if !found && matches!(change.verdict, Verdict::Faster | Verdict::Slower) {
            change.verdict = Verdict::NoDifference;
        }
    }
    p_values.len()
}
