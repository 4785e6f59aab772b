//! Whether a new result is slower than an old one by more than is allowed, for a build to pass or fail by.
//! `docs/gate.md` has the rule and what it was measured to find.

mod columns;
mod junit;
mod render;
mod whole;

use embermark_model::CellId;
use embermark_model::result::ResultFile;
use serde::Serialize;

pub use columns::{columns, only};
pub use junit::junit;
pub use render::{json, markdown, table};
pub use whole::Whole;

use crate::compare::{self, Differences, Pairs, PhasePair, Turn};
use crate::statistics::{Shift, holm};

/// How often a gate fails, of runs between which nothing became slower than is allowed, at most: the
/// probability of one false alarm in a whole run, however many phases it has. The engines as wholes have one
/// half of it, the phases the other.
pub const FALSE_ALARMS: f64 = 0.01;

/// Where not even so many times what is allowed would be found, nothing is judged.
const FINDS_NOTHING: f64 = 2.0;

/// What a gate says of two results.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// Engines with figures in either file that may not be published.
    pub unpublishable: Vec<String>,
    /// What speaks against the comparison, or must be known to read it.
    pub differences: Differences,
    /// The slowdown that is allowed: 0.05 for 5 %.
    pub allow: f64,
    /// [`FALSE_ALARMS`].
    pub false_alarms: f64,
    /// Whether old and new are columns of one run, so that trials of the same round make pairs.
    pub one_run: bool,
    /// How it ends.
    pub outcome: Outcome,
    /// Why, in sentences.
    pub why: Vec<String>,
    /// Each engine over all of its phases.
    pub wholes: Vec<Whole>,
    /// Each phase with figures in both, in the order of the old file's cells; references are not among them.
    pub phases: Vec<Judged>,
    /// Each cell or phase that ended well in one file only.
    pub turned: Vec<Turn>,
    /// Of two runs, the references that both have, as a whole: what became of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Whole>,
    /// Cells that the old file has and the new one has not.
    pub only_old: Vec<CellId>,
    /// Cells that the new file has and the old one has not.
    pub only_new: Vec<CellId>,
}

/// How a gate ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing is shown to be slower than is allowed: exit status 0.
    Passed,
    /// Something is slower, does not keep up any more, or is no longer right: exit status 1.
    Failed,
    /// The results do not tell: exit status 2.
    Unclear,
}

impl Outcome {
    /// The exit status of `embermark gate`.
    pub const fn status(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Unclear => 2,
        }
    }
}

/// One phase of one cell in both files.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The cell.
    pub cell: CellId,
    /// The phase.
    pub phase: String,
    /// Time per operation in the old file in ns, median over the trials.
    pub old_ns: f64,
    /// In the new one.
    pub new_ns: f64,
    /// How many trials there are, old and new.
    pub trials: [usize; 2],
    /// New over old, of the geometric means over the trials; absent with fewer than three of either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The 95 % interval of that ratio, of this phase alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// How probable such times are of a phase that is just as much slower as is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The ratio that would be found 95 times of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finds: Option<f64>,
    /// What its cell did not do in either file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// What that comes to.
    pub verdict: Verdict,
}

/// What is said of a phase, among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower than is allowed.
    Slower,
    /// It kept up and does not any more.
    NoLongerKeepsUp,
    /// Not shown to be slower than is allowed.
    NotSlower,
    /// Its cell did not do all that it was to do: times do not tell.
    DidNotKeepUp,
    /// Fewer than three trials in one of the files.
    TooFewTrials,
}

impl Verdict {
    /// Whether a gate fails by it.
    pub const fn fails(self) -> bool {
        matches!(self, Self::Slower | Self::NoLongerKeepsUp)
    }

    /// The words that tables show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower than allowed",
            Self::NoLongerKeepsUp => "no longer keeps up",
            Self::NotSlower => "not shown to be slower",
            Self::DidNotKeepUp => "did not keep up",
            Self::TooFewTrials => "too few trials",
        }
    }
}

/// Judges `new` by `old`: whether it is slower by more than `allow`, 0.05 for 5 %.
pub fn gate(old: &ResultFile, new: &ResultFile, allow: f64) -> Gate {
    let Pairs { phases: pairs, turned, only_old, only_new } = compare::pairs(old, new);
    let one_run = old.manifest.run_id == new.manifest.run_id;
    let (references, judged): (Vec<PhasePair<'_>>, Vec<PhasePair<'_>>) =
        pairs.into_iter().partition(|pair| pair.reference);
    let machine = if one_run { None } else { Whole::of("", references.iter(), false, allow, 1) };
    let mut differences = compare::differences(old, new);
    differences.remarks.retain(|remark| !one_run || remark != compare::ONE_RUN);
    let mut gate = Gate {
        unpublishable: compare::unpublishable(old, new),
        differences,
        allow,
        false_alarms: FALSE_ALARMS,
        one_run,
        outcome: Outcome::Passed,
        why: Vec::new(),
        wholes: whole::wholes(&judged, one_run, allow),
        phases: phases(&judged, allow),
        turned,
        machine,
        only_old,
        only_new,
    };
    (gate.outcome, gate.why) = gate.ends();
    gate
}

/// Each phase, judged among all.
fn phases(pairs: &[PhasePair<'_>], allow: f64) -> Vec<Judged> {
    let shift = |pair: &PhasePair<'_>| {
        let [old, new] = &pair.figures;
        Shift::of(&new.per_trial_ns, &old.per_trial_ns).filter(|_| pair.lacking().is_none())
    };
    let shifts: Vec<Option<Shift>> = pairs.iter().map(shift).collect();
    let known: Vec<f64> =
        shifts.iter().flatten().map(|shift| shift.p_beyond(1.0 + allow)).collect();
    let level = FALSE_ALARMS / 2.0;
    let mut slower = holm(&known, level).into_iter();
    let each = level / known.len().max(1) as f64;
    let judged = |(pair, shift): (&PhasePair<'_>, Option<Shift>)| {
        let lacking = pair.lacking();
        let is_slower = shift.is_some() && slower.next() == Some(true);
        let verdict = match shift {
            Some(_) if is_slower => Verdict::Slower,
            Some(_) => Verdict::NotSlower,
            None if pair.no_longer_keeps_up() => Verdict::NoLongerKeepsUp,
            None if lacking.is_some() => Verdict::DidNotKeepUp,
            None => Verdict::TooFewTrials,
        };
        let [old, new] = &pair.figures;
        Judged {
            cell: pair.cell.clone(),
            phase: pair.phase.to_owned(),
            old_ns: old.per_op_ns,
            new_ns: new.per_op_ns,
            trials: [old.per_trial_ns.len(), new.per_trial_ns.len()],
            ratio: shift.map(|shift| shift.ratio()),
            interval: shift.map(|shift| shift.interval()),
            p: shift.map(|shift| shift.p_beyond(1.0 + allow)),
            finds: shift.map(|shift| shift.finds(1.0 + allow, each)),
            lacking,
            verdict,
        }
    };
    pairs.iter().zip(shifts).map(judged).collect()
}

impl Gate {
    /// The smallest slowdown that any of its judgements would find; `None` where nothing was judged.
    pub fn finds(&self) -> Option<f64> {
        let wholes = self.wholes.iter().map(|whole| whole.finds);
        wholes.chain(self.phases.iter().filter_map(|phase| phase.finds)).reduce(f64::min)
    }

    /// How it ends, and why. What broke tells whatever the machine did; what is slower does not.
    fn ends(&self) -> (Outcome, Vec<String>) {
        let broken = render::broken(self);
        if !broken.is_empty() {
            let slower = if self.has_machine_changed() { Vec::new() } else { render::slower(self) };
            return (Outcome::Failed, [broken, slower].concat());
        }
        if let Some(machine) = self.machine.as_ref().filter(|_| self.has_machine_changed()) {
            return (Outcome::Unclear, vec![render::machine_changed(machine)]);
        }
        let slower = render::slower(self);
        if !slower.is_empty() {
            return (Outcome::Failed, slower);
        }
        match self.finds() {
            None => (Outcome::Unclear, vec![render::nothing_judged(self)]),
            Some(finds) if finds > FINDS_NOTHING * (1.0 + self.allow) => {
                (Outcome::Unclear, vec![render::finds_nothing(self)])
            }
            Some(_) => (Outcome::Passed, render::found(self)),
        }
    }

    /// Whether the references of two runs tell that the machine became slower or faster by more than is
    /// allowed, so that the engines' times tell nothing.
    fn has_machine_changed(&self) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.is_slower || machine.is_faster)
    }
}
