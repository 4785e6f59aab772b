//! An engine over all of its phases: what a single one is too uncertain to show.
//!
//! The unit is the round, in which every cell has a trial. Trials of one round share what the machine did in
//! that time: of a recorded plan of 153 cells the rounds differed nine times as much as they would if its
//! trials were independent (`crates/harness/recordings/quiet.json`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::FALSE_ALARMS;
use crate::compare::PhasePair;
use crate::statistics::{FEWEST_TRIALS, Shift, holm};
use crate::text;

/// An engine as a whole: the geometric mean over its phases of the time per operation.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    /// The engine's column.
    pub engine: String,
    /// How many phases are in it: those with three trials and more, that kept up.
    pub phases: usize,
    /// How many rounds have all of them, old and new.
    pub rounds: [usize; 2],
    /// New over old.
    pub ratio: f64,
    /// The 95 % interval of that ratio.
    pub interval: [f64; 2],
    /// How probable such times are of an engine that is just as much slower as is allowed.
    pub p: f64,
    /// The ratio that would be found 95 times of 100.
    pub finds: f64,
    /// How many rounds would find twice what is allowed; absent where nothing is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_for_twice: Option<u64>,
    /// Whether it is slower than is allowed.
    pub is_slower: bool,
    /// Whether it is faster by as much.
    #[serde(skip)]
    pub(super) is_faster: bool,
}

/// Every engine that has phases to judge, in the order of the cells.
pub(super) fn wholes(pairs: &[PhasePair<'_>], one_run: bool, allow: f64) -> Vec<Whole> {
    let engines = text::unique(pairs.iter().map(|pair| pair.cell.engine.as_str()));
    let of = |engine: &&str| {
        let own = pairs.iter().filter(|pair| pair.cell.engine == *engine);
        Whole::of(engine, own, one_run, allow, engines.len())
    };
    let mut wholes: Vec<Whole> = engines.iter().filter_map(of).collect();
    let p_values: Vec<f64> = wholes.iter().map(|whole| whole.p).collect();
    for (whole, is_slower) in wholes.iter_mut().zip(holm(&p_values, FALSE_ALARMS / 2.0)) {
        whole.is_slower = is_slower;
    }
    wholes
}

impl Whole {
    /// Of some phases, one of so many `engines`; `None` where fewer than three rounds have all of them.
    pub(super) fn of<'a>(
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
        let shift = if one_run { Shift::of_pairs(&new, &old) } else { Shift::of(&new, &old) }?;
        let (most, level) = (1.0 + allow, FALSE_ALARMS / 2.0 / engines as f64);
        let rounds_for_twice = (allow > 0.0).then(|| {
            let times = shift.times_as_many(1.0 + 2.0 * allow, most, level);
            (new.len() as f64 * times).ceil().max(FEWEST_TRIALS as f64) as u64
        });
        let is_faster = shift.p_below(1.0 / most) <= level;
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
            is_faster,
        })
    }
}

/// The mean logarithm of the times of all phases in each round that has all of them.
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
