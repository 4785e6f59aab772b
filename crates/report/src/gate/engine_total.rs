//! Judges an engine over all its phases, which shows what a single phase is too uncertain for.
//!
//! The unit is the round, in which every cell has a trial. Trials of one round share the state of
//! the machine. In a recorded plan of 153 cells, rounds differed nine times as much as they would
//! with independent trials (`crates/harness/recordings/quiet.json`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::FALSE_ALARMS;
use crate::compare::PhasePair;
use crate::statistics::{FEWEST_TRIALS, Shift, holm};
use crate::text;

/// An engine over all its phases: the geometric mean of the time per operation.
#[derive(Clone, Debug, Serialize)]
pub struct EngineTotal {
    /// Column of the engine.
    pub engine: String,
    /// Number of phases in it: those with at least three trials that kept up.
    pub phases: usize,
    /// Number of rounds that have all these phases, old and new.
    pub rounds: [usize; 2],
    /// Ratio, new over old.
    pub ratio: f64,
    /// The 95 % confidence interval of the ratio.
    pub interval: [f64; 2],
    /// Probability of such times if the engine is slower by exactly the allowed share.
    pub p: f64,
    /// Ratio that would be found in 95 of 100 cases.
    pub finds: f64,
    /// Number of rounds that would find twice the allowed slowdown. Absent if none is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_for_twice: Option<u64>,
    /// Whether it is slower than allowed.
    pub is_slower: bool,
    /// Whether it is faster by as much.
    #[serde(skip)]
    pub(super) is_faster: bool,
}

/// Judges every engine with phases to judge, in the order of the cells.
pub(super) fn engine_totals(
    pairs: &[PhasePair<'_>],
    one_run: bool,
    allow: f64,
) -> Vec<EngineTotal> {
    let engines = text::unique(pairs.iter().map(|pair| pair.cell.engine.as_str()));
    let of = |engine: &&str| {
        let own = pairs.iter().filter(|pair| pair.cell.engine == *engine);
        EngineTotal::new(engine, own, one_run, allow, engines.len())
    };
    let mut wholes: Vec<EngineTotal> = engines.iter().filter_map(of).collect();
    let p_values: Vec<f64> = wholes.iter().map(|whole| whole.p).collect();
    for (whole, is_slower) in wholes.iter_mut().zip(holm(&p_values, FALSE_ALARMS / 2.0)) {
        whole.is_slower = is_slower;
    }
    wholes
}

impl EngineTotal {
    /// Judges these phases as one of `engines` engines. `None` if fewer than three rounds have all
    /// of them.
    pub(super) fn new<'a>(
        engine: &str,
        pairs: impl Iterator<Item = &'a PhasePair<'a>>,
        one_run: bool,
        allow: f64,
        engines: usize,
    ) -> Option<Self> {
        let enough = |pair: &&PhasePair<'_>| {
            let trials = pair.figures.iter().map(|figure| figure.per_trial_ns.len());
            trials.min() >= Some(FEWEST_TRIALS) && pair.lacking().is_none()
        };
        let pairs: Vec<&PhasePair<'_>> = pairs.filter(enough).collect();
        let [mut old, mut new] = [0, 1].map(|side| rounds(&pairs, side));
        if one_run {
            old.retain(|round, _| new.contains_key(round));
            new.retain(|round, _| old.contains_key(round));
        }
        let [old, new] =
            [old, new].map(|rounds| rounds.into_values().map(f64::exp).collect::<Vec<f64>>());
        let shift = if one_run { Shift::paired(&new, &old) } else { Shift::unpaired(&new, &old) }?;
        let (most, level) = (1.0 + allow, FALSE_ALARMS / 2.0 / engines as f64);
        let rounds_for_twice = (allow > 0.0).then(|| {
            let times = shift.times_as_many(1.0 + 2.0 * allow, most, level);
            (new.len() as f64 * times).ceil().max(FEWEST_TRIALS as f64) as u64
        });
        Some(Self {
            engine: engine.to_owned(),
            phases: pairs.len(),
            rounds: [old.len(), new.len()],
            ratio: shift.ratio(),
            interval: shift.interval(),
            p: shift.p_beyond(most),
            finds: shift.finds(most, level),
            rounds_for_twice,
            is_slower: shift.p_beyond(most) <= level,
            is_faster: shift.p_below(1.0 / most) <= level,
        })
    }
}

/// Returns, for each round that has all phases, the mean logarithm of their times.
fn rounds(pairs: &[&PhasePair<'_>], side: usize) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    for pair in pairs {
        let figure = &pair.figures[side];
        for (round, time) in figure.trials.iter().zip(&figure.per_trial_ns) {
            let (phases, sum) = sums.entry(*round).or_default();
            (*phases, *sum) = (*phases + 1, *sum + time.ln());
        }
    }
    let whole = sums.into_iter().filter(|(_, (phases, _))| *phases == pairs.len());
    whole.map(|(round, (phases, sum))| (round, sum / phases as f64)).collect()
}
