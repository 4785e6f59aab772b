//! Judges whether a new result is slower than an old one by more than an allowed share, so that a
//! build can pass or fail. `docs/gate.md` has the rule and its measured power.

mod columns;
mod engine_total;
mod junit;
mod render;

use embermark_model::CellId;
use embermark_model::result::ResultFile;
use serde::Serialize;

pub use crate::document::json;
pub use columns::{columns, only};
pub use engine_total::EngineTotal;
pub use junit::junit;
pub use render::{markdown, table};

use crate::compare::{self, Differences, Pairs, PhasePair, StatusChange};
use crate::statistics::{Shift, holm};
use crate::text;

/// Largest probability that a gate fails although nothing became slower than allowed. It holds for
/// a whole run, however many phases it has. The engines over all phases take one half of it, and
/// the phases the other half.
pub const FALSE_ALARMS: f64 = 0.01;

/// If a slowdown of this many times the allowed one would not be found, nothing is judged.
const FINDS_NOTHING: f64 = 2.0;

/// Outcome of a gate between two results.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// Engines in either file whose figures may not be published.
    pub unpublishable: Vec<String>,
    /// Differences that make the comparison invalid, or that a reader must know.
    pub differences: Differences,
    /// Allowed slowdown: 0.05 for 5 %.
    pub allow: f64,
    /// [`FALSE_ALARMS`].
    pub false_alarms: f64,
    /// Whether old and new are columns of one run, so that trials of the same round form pairs.
    pub one_run: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// Reasons for the outcome, in sentences.
    pub why: Vec<String>,
    /// Each engine over all its phases.
    pub wholes: Vec<EngineTotal>,
    /// Each phase with figures in both files, in the order of the old file's cells. References are
    /// not included.
    pub phases: Vec<JudgedPhase>,
    /// Each cell or phase that completed in only one file.
    pub turned: Vec<StatusChange>,
    /// References that two runs have in common, as a whole. They show how the machine changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<EngineTotal>,
    /// Engines with figures in the old file and none in the new one, each with the reason.
    pub gone: Vec<String>,
    /// Cells that only the old file has.
    pub only_old: Vec<CellId>,
    /// Cells that only the new file has.
    pub only_new: Vec<CellId>,
}

/// Outcome of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing is significantly slower than allowed: exit status 0.
    Passed,
    /// Something is slower, no longer keeps up, or is no longer correct: exit status 1.
    Failed,
    /// The results do not show whether anything is slower: exit status 2.
    Unclear,
}

impl Outcome {
    /// Returns the exit status of `embermark gate`.
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
pub struct JudgedPhase {
    /// The cell.
    pub cell: CellId,
    /// The phase.
    pub phase: String,
    /// Time per operation in the old file in ns, median over the trials.
    pub old_ns: f64,
    /// Time per operation in the new file in ns, median over the trials.
    pub new_ns: f64,
    /// Number of trials, old and new.
    pub trials: [usize; 2],
    /// Ratio of the geometric means over the trials, new over old. Absent if either has fewer than
    /// three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The 95 % confidence interval of the ratio of this phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Probability of such times if the phase is slower by exactly the allowed share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Ratio that would be found in 95 of 100 cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finds: Option<f64>,
    /// What its cell failed to do in either file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacking: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Verdict on a phase, with the other phases taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower than allowed.
    Slower,
    /// It kept up in the old file only.
    NoLongerKeepsUp,
    /// Not significantly slower than allowed.
    NotSlower,
    /// Its cell did not do all its work, so its times cannot be compared.
    DidNotKeepUp,
    /// One of the files has fewer than three trials.
    TooFewTrials,
}

impl Verdict {
    /// Whether this verdict makes a gate fail.
    pub const fn fails(self) -> bool {
        matches!(self, Self::Slower | Self::NoLongerKeepsUp)
    }

    /// Returns the words that tables show.
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

/// Judges whether `new` is slower than `old` by more than `allow`, which is 0.05 for 5 %.
pub fn gate(old: &ResultFile, new: &ResultFile, allow: f64) -> Gate {
    let Pairs { phases: pairs, turned, only_old, only_new } = compare::pairs(old, new);
    let one_run = old.manifest.run_id == new.manifest.run_id;
    let (references, judged): (Vec<_>, Vec<_>) =
        pairs.into_iter().partition(|pair: &PhasePair<'_>| pair.reference);
    let machine = EngineTotal::new("", references.iter(), false, allow, 1).filter(|_| !one_run);
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
        wholes: engine_total::engine_totals(&judged, one_run, allow),
        phases: phases(&judged, allow),
        gone: gone(old, new),
        turned,
        machine,
        only_old,
        only_new,
    };
    if gate.has_machine_changed() {
        gate.judge_no_times();
    }
    (gate.outcome, gate.why) = gate.ends();
    gate
}

/// Lists the engines with figures in the old file and none in the new one.
fn gone(old: &ResultFile, new: &ResultFile) -> Vec<String> {
    let has_figures = |file: &ResultFile, engine: &str| {
        let mut cells = file.cells.iter().filter(|cell| cell.id.engine == engine);
        cells.any(|cell| cell.status.has_figures() && !cell.trials.is_empty())
    };
    let engines = old.cells.iter().filter(|cell| !cell.reference).map(|cell| &*cell.id.engine);
    let mut gone = text::unique(engines);
    gone.retain(|engine| has_figures(old, engine) && !has_figures(new, engine));
    let why = |engine: &str| {
        let cell = new.cells.iter().find(|cell| cell.id.engine == engine);
        let why = cell.map(|cell| match &cell.reason {
            Some(reason) => format!("{}: {reason}", cell.status),
            None => cell.status.to_string(),
        });
        format!("{engine} ({})", why.as_deref().unwrap_or("it has no cells"))
    };
    gone.into_iter().map(why).collect()
}

/// Judges each phase among all phases.
fn phases(pairs: &[PhasePair<'_>], allow: f64) -> Vec<JudgedPhase> {
    let shift = |pair: &PhasePair<'_>| {
        let [old, new] = &pair.figures;
        Shift::unpaired(&new.per_trial_ns, &old.per_trial_ns).filter(|_| pair.lacking().is_none())
    };
    let shifts: Vec<Option<Shift>> = pairs.iter().map(shift).collect();
    let known: Vec<f64> = shifts.iter().flatten().map(|one| one.p_beyond(1.0 + allow)).collect();
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
        JudgedPhase {
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
    /// Returns the smallest slowdown that one of the judgements would find. `None` if nothing was
    /// judged.
    pub fn finds(&self) -> Option<f64> {
        let wholes = self.wholes.iter().map(|whole| whole.finds);
        wholes.chain(self.phases.iter().filter_map(|phase| phase.finds)).reduce(f64::min)
    }

    /// Takes back that something is slower, which the times of another machine do not show.
    fn judge_no_times(&mut self) {
        self.wholes.iter_mut().for_each(|whole| whole.is_slower = false);
        for phase in self.phases.iter_mut().filter(|phase| phase.verdict == Verdict::Slower) {
            phase.verdict = Verdict::NotSlower;
        }
    }

    /// Returns the outcome and its reasons. Broken work counts even if the machine changed.
    fn ends(&self) -> (Outcome, Vec<String>) {
        let broken = render::broken(self);
        if !broken.is_empty() {
            return (Outcome::Failed, [broken, render::slower(self)].concat());
        }
        if let Some(machine) = self.machine.as_ref().filter(|_| self.has_machine_changed()) {
            return (Outcome::Unclear, vec![render::machine_changed(machine)]);
        }
        let slower = render::slower(self);
        if !slower.is_empty() {
            return (Outcome::Failed, slower);
        }
        if !self.gone.is_empty() && self.finds().is_some() {
            return (Outcome::Unclear, vec![render::gone(self)]);
        }
        match self.finds() {
            None => (Outcome::Unclear, vec![render::nothing_judged(self)]),
            Some(finds) if finds > FINDS_NOTHING * (1.0 + self.allow) => {
                (Outcome::Unclear, vec![render::finds_nothing(self)])
            }
            Some(_) => (Outcome::Passed, render::found(self)),
        }
    }

    /// Whether the references of two runs show that the machine became slower or faster by more
    /// than the allowed share. The engines' times then prove nothing.
    fn has_machine_changed(&self) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.is_slower || machine.is_faster)
    }
}
