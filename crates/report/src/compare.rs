//! Comparison of two results: what became faster or slower, and whether they can be compared at
//! all. `docs/compare.md` has the rule.

mod manifests;
mod pairs;
mod render;
mod usage;

use embermark_model::CellId;
use embermark_model::result::ResultFile;
use serde::Serialize;

pub use crate::document::json;
pub(crate) use manifests::ONE_RUN;
pub use manifests::{Differences, conditions, differences, unpoolable};
pub use pairs::StatusChange;
pub(crate) use pairs::{Pairs, PhasePair, pairs};
pub use render::{csv, markdown, table};
pub(crate) use render::{turned, unlike};
pub use usage::UsageChange;

use crate::statistics::{discoveries, includes_one, ratio_interval, welch_p};
use crate::summary::Protocol;
use crate::text;

/// Changes from one result to another.
#[derive(Clone, Debug, Serialize)]
pub struct Changes {
    /// Engines with figures in either file that may not be published.
    pub unpublishable: Vec<String>,
    /// Differences that invalidate the comparison, or that its reader must know.
    pub differences: Differences,
    /// Number of pairs with an interval, which were tested for a difference.
    pub pairs: usize,
    /// Largest expected share of false calls among those called faster or slower.
    pub false_discovery_rate: f64,
    /// Runs and trials in both, for each workload, scale, tier and variant that has a phase below.
    pub ran: Vec<GroupProtocol>,
    /// Each phase with figures in both, in the order of the old file's cells.
    pub phases: Vec<Change>,
    /// Resources of engines, for each cell that did all of its work in both.
    pub used: Vec<UsageChange>,
    /// Cells and phases that had figures or an answer in only one file.
    pub turned: Vec<StatusChange>,
    /// Cells that the old file has and the new one has not.
    pub only_old: Vec<CellId>,
    /// Cells that the new file has and the old one has not.
    pub only_new: Vec<CellId>,
}

/// Runs and trials of a workload at a scale, in a tier and a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupProtocol {
    /// One of its cells.
    #[serde(skip)]
    cell: CellId,
    /// Title: `sensors 10k · durability process · single`.
    pub title: String,
    /// Runs and trials: `6 runs (1 warm-up) x 3 trials`. If they differ, those of both files.
    pub protocol: String,
}

impl GroupProtocol {
    fn new(cell: &CellId, old: &ResultFile, new: &ResultFile) -> Self {
        let protocol = |file: &ResultFile| {
            let of = Protocol::from_cells(file.cells.iter().filter(|other| is_of(&other.id, cell)));
            of.map_or_else(|| "nothing that ended well".to_owned(), |of| of.to_string())
        };
        let CellId { workload, variant, durability, .. } = cell;
        let title = format!("{workload} {} · durability {durability} · {variant}", cell.extent());
        let (old, new) = (protocol(old), protocol(new));
        Self {
            cell: cell.clone(),
            title: text::plain(&title),
            protocol: if old == new { old } else { format!("old {old}, new {new}") },
        }
    }

    /// Whether it covers a cell.
    fn holds(&self, cell: &CellId) -> bool {
        is_of(cell, &self.cell)
    }
}

/// Whether two cells differ in nothing but their engine.
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
    /// Time per operation in the new file in ns, median over the trials.
    pub new_ns: f64,
    /// New time divided by old time. Above 1 is slower.
    pub ratio: f64,
    /// The 95 % interval of the ratio. Absent if either file has fewer than three trials.
    pub interval: Option<[f64; 2]>,
    /// Probability of such times if there is no difference, by Welch's test. 1 if the interval
    /// includes 1. Absent without an interval.
    pub p: Option<f64>,
    /// What its cell failed to do in either file: `new lost 24,261 of 40,000`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// What the interval shows.
    pub verdict: Verdict,
}

impl Change {
    /// Judges a pair by itself. [`judge`] judges it among all pairs.
    fn new(pair: &PhasePair<'_>) -> Self {
        let [old, new] = &pair.figures;
        let interval = ratio_interval(&new.per_trial_ns, &old.per_trial_ns);
        let lacking = pair.lacking();
        let welch = || welch_p(&new.per_trial_ns, &old.per_trial_ns);
        let (verdict, p) = match interval {
            _ if lacking.is_some() => (Verdict::DidNotKeepUp, None),
            None => (Verdict::TooFewTrials, None),
            // Larger than Welch's, which is the cautious choice.
            Some(ends) if includes_one(ends) => (Verdict::NoDifference, Some(1.0)),
            Some([low, _]) if low > 1.0 => (Verdict::Slower, welch()),
            Some(_) => (Verdict::Faster, welch()),
        };
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

/// Allowed share of false calls, on average.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// Result of the comparison of a pair, among all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval lies below 1, and the difference is significant among all pairs.
    Faster,
    /// The interval lies above 1, and the difference is significant among all pairs.
    Slower,
    /// The interval includes 1, or the difference is not significant among so large a number of
    /// pairs.
    NoDifference,
    /// There is no interval: one of the files has fewer than three trials.
    TooFewTrials,
    /// Its cell did not do all of its work in one of the files, so times cannot be compared.
    DidNotKeepUp,
}

impl Verdict {
    /// Returns the word that tables show.
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

/// Compares `new` with `old`. A pair is called faster or slower if its interval leaves out 1 and
/// the share of false calls in the whole comparison is at most [`FALSE_DISCOVERY_RATE`].
pub fn compare(old: &ResultFile, new: &ResultFile) -> Changes {
    let Pairs { phases, turned, only_old, only_new } = pairs(old, new);
    let mut phases: Vec<Change> = phases.iter().map(Change::new).collect();
    let pairs = judge(&mut phases);
    let mut ran: Vec<GroupProtocol> = Vec::new();
    for change in &phases {
        if !ran.iter().any(|ran| ran.holds(&change.cell)) {
            ran.push(GroupProtocol::new(&change.cell, old, new));
        }
    }
    Changes {
        unpublishable: unpublishable(old, new),
        differences: differences(old, new),
        pairs,
        false_discovery_rate: FALSE_DISCOVERY_RATE,
        ran,
        phases,
        used: usage::usage_changes(old, new),
        turned,
        only_old,
        only_new,
    }
}

/// Returns the engines with figures in either file that may not be published.
pub(crate) fn unpublishable(old: &ResultFile, new: &ResultFile) -> Vec<String> {
    let engines = text::unique(old.unpublishable().into_iter().chain(new.unpublishable()));
    engines.into_iter().map(str::to_owned).collect()
}

/// Calls a pair faster or slower only if the difference is significant among all pairs. Returns the
/// number of tested pairs.
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
