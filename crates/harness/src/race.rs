//! A run that ends when its time is over: every cell once, then again the cells whose order is least certain.
//!
//! A trial more goes to where two neighbours in the order of a phase are not told apart, the first two before
//! all others. Two are told apart where their means, as logarithms over trials, lie further apart than
//! [`CERTAIN`] standard errors, or where both are known to [`CLOSE`]: then they are alike. Few trials say little
//! about how far trials of a cell differ, so that a variance of [`PRIOR`] counts as [`PRIOR_TRIALS`] of them
//! (the mean of an inverse-gamma posterior). That trials go where they are needed leaves an interval over those of
//! one cell what it is, but for cells that stop early because they happen to agree; the rule stops none before it
//! has [`FEWEST`] where it is first or second. `docs/statistics.md` says what was tried.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use embermark_meter::statistics::median;
use embermark_model::result::Trial;

use crate::HarnessError;
use crate::cells::PlannedCell;
use crate::result_file::assemble;
use crate::schedule::Turn;
use crate::session::Run;

mod pass;

pub(crate) use pass::{competes, expected, rank};

/// Standard errors between two means that are told apart.
const CERTAIN: f64 = 3.0;

/// A standard error below which two are alike.
const CLOSE: f64 = 0.03;

/// The least variance of logarithms of a cell's trials, before any is known: those of 10 %.
const PRIOR: f64 = 0.01;

/// How many trials that counts as.
const PRIOR_TRIALS: f64 = 2.0;

/// From so many trials on there is an interval, which is their range: of equals it calls one pair in ten different.
const RANGE: u32 = 3;

/// Trials of a cell that has an interval, so that it calls fewer than one pair of equals in twenty different. The
/// first two of a phase have them.
const FEWEST: u32 = 5;

/// Times the best's time after which a run of another is stopped.
const BEHIND: u64 = 20;

/// No run is stopped before this: a hiccup of the machine takes as long.
const LEAST_BOUND: Duration = Duration::from_millis(10);

/// Time between two looks at what was measured.
const LOOK: Duration = Duration::from_secs(10);

/// The share of the time that is left to the trials that count, once every cell had one that is timed.
const COUNTING_SHARE: f64 = 0.3;

/// What is known of a cell.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Cells that compete with it have the same number.
    group: usize,
    /// Trials that it had.
    trials: u32,
    /// How long one takes in seconds.
    cost: f64,
    /// By phase the time of an operation in each trial in ns.
    figures: BTreeMap<String, Vec<f64>>,
    /// By phase the shortest run in ns that did all of its operations.
    whole: BTreeMap<String, u64>,
    /// Whether it takes part no more: a trial of it did not end well, or it is a reference.
    out: bool,
}

/// The logarithms of times, and their mean.
fn logarithms(times: &[f64]) -> (Vec<f64>, f64) {
    let logs: Vec<f64> = times.iter().filter(|time| **time > 0.0).map(|time| time.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (logs, mean)
}

/// The sum of the squared distances from a mean.
fn squares(logs: &[f64], mean: f64) -> f64 {
    logs.iter().map(|log| (log - mean).powi(2)).sum()
}

/// Mean and its squared standard error of the logarithms of times, where trials of others have the variance `prior`.
fn known(times: &[f64], prior: f64) -> Option<(f64, f64)> {
    let (logs, mean) = logarithms(times);
    let n = logs.len() as f64;
    let variance = PRIOR_TRIALS.mul_add(prior, squares(&logs, mean)) / (PRIOR_TRIALS + n - 1.0);
    (!logs.is_empty()).then_some((mean, variance / n))
}

/// The variance of trials of cells that compete in a phase: the median of those that had [`RANGE`] and more, at least
/// [`PRIOR`].
fn prior<'a>(cells: impl Iterator<Item = &'a Vec<f64>>) -> f64 {
    let several = cells.filter(|times| times.len() >= RANGE as usize).map(|times| {
        let (logs, mean) = logarithms(times);
        squares(&logs, mean) / (logs.len() as f64 - 1.0)
    });
    median(&several.collect::<Vec<f64>>()).map_or(PRIOR, |variance| variance.max(PRIOR))
}

/// The lane that gains most from a trial more, by the time that it takes; `None` where every order is certain.
fn next(lanes: &[Lane]) -> Option<usize> {
    let is_begun = |lane: &Lane| !lane.out && (RANGE..FEWEST).contains(&lane.trials);
    if let Some(begun) = lanes.iter().position(is_begun) {
        return Some(begun);
    }
    let mut wants = vec![0.0; lanes.len()];
    let groups: BTreeSet<usize> = lanes.iter().map(|lane| lane.group).collect();
    for group in groups {
        let own = || (0..lanes.len()).filter(|at| lanes[*at].group == group && !lanes[*at].out);
        let phases: BTreeSet<&String> = own().flat_map(|at| lanes[at].figures.keys()).collect();
        for phase in phases {
            let prior = prior(own().filter_map(|at| lanes[at].figures.get(phase)));
            let of = |at: usize| Some((at, known(lanes[at].figures.get(phase)?, prior)?));
            let mut order: Vec<(usize, (f64, f64))> = own().filter_map(of).collect();
            order.sort_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
            for (rank, pair) in order.windows(2).enumerate() {
                let [(a, (mean, square)), (b, (other, others))] = *pair else { continue };
                let error = (square + others).sqrt();
                let open = other - mean < CERTAIN * error && error > CLOSE;
                let weight = if rank == 0 { 3.0 } else { 1.0 };
                for at in [a, b] {
                    let few = rank == 0 && lanes[at].trials < FEWEST;
                    wants[at] += if open || few { weight } else { 0.0 };
                }
            }
        }
    }
    let gain = |at: usize| wants[at] / (f64::from(lanes[at].trials) * lanes[at].cost.max(0.01));
    let wanting = (0..lanes.len()).filter(|at| wants[*at] > 0.0);
    wanting.max_by(|a, b| gain(*a).total_cmp(&gain(*b)))
}

/// By phase the longest time of a run of a cell in ns: [`BEHIND`] times the shortest of those that compete with it.
fn bounds(lanes: &[Lane], cell: usize) -> BTreeMap<String, u64> {
    let mut bounds = BTreeMap::new();
    let competes =
        |(at, lane): &(usize, &Lane)| *at != cell && lane.group == lanes[cell].group && !lane.out;
    for (_, lane) in lanes.iter().enumerate().filter(competes) {
        for (phase, ns) in &lane.whole {
            let bound = ns.saturating_mul(BEHIND).max(LEAST_BOUND.as_nanos() as u64);
            let known = bounds.entry(phase.clone()).or_insert(bound);
            *known = bound.min(*known);
        }
    }
    bounds
}

impl Run<'_> {
    /// When a run of a limited time is to be over.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.plan.lasts_ms.map(|ms| self.began + Duration::from_millis(ms))
    }

    /// Runs every cell once and then those that are not certain, until the time is over or all are; whether
    /// it was not interrupted.
    pub(crate) fn race(
        &mut self,
        cells: &[PlannedCell],
        ends: Instant,
    ) -> Result<bool, HarnessError> {
        if !self.first_pass(cells, ends)? {
            return Ok(false);
        }
        let whole = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        let counting = if self.counts(cells).is_empty() { 0.0 } else { COUNTING_SHARE };
        self.race_on(cells, ends.checked_sub(whole.mul_f64(counting)).unwrap_or(ends))
    }

    /// Runs cells again that are not certain, until the time is over or all are; whether it was not interrupted.
    /// Where some had no trial yet, but for those that follow others, nothing is measured again.
    pub(crate) fn race_on(
        &mut self,
        cells: &[PlannedCell],
        ends: Instant,
    ) -> Result<bool, HarnessError> {
        let lanes = self.lanes(cells);
        let lacks = |(cell, lane): (&PlannedCell, &Lane)| {
            lane.trials == 0 && !pass::follows(&cell.id, cells)
        };
        if cells.iter().zip(&lanes).any(lacks) {
            return Ok(true);
        }
        let mut looked = Instant::now();
        loop {
            if looked.elapsed() >= LOOK {
                self.progress.so_far(&assemble(&self.journal));
                looked = Instant::now();
            }
            let lanes = self.lanes(cells);
            let Some(cell) = next(&lanes) else {
                return Ok(true);
            };
            if Instant::now() + Duration::from_secs_f64(lanes[cell].cost) > ends {
                return Ok(true);
            }
            if !self.once_more(cell, lanes[cell].trials, cells)? {
                return Ok(false);
            }
        }
    }

    fn once_more(
        &mut self,
        cell: usize,
        trial: u32,
        cells: &[PlannedCell],
    ) -> Result<bool, HarnessError> {
        let order = self.journal.trials.len() as u32;
        let info = self.options.catalog.workload(&cells[cell].id.workload)?.info();
        self.bounds = bounds(&self.lanes(cells), cell);
        // What lasts as long as it was asked to is not slow.
        self.bounds.retain(|phase, _| !info.lasts && !info.windowed.contains(&phase.as_str()));
        self.take_turns(&[Turn { cell, trial, order }], order + 1, cells)
    }

    fn lanes(&self, cells: &[PlannedCell]) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = Vec::with_capacity(cells.len());
        for (group, own) in pass::competing(cells).enumerate() {
            let lane = |cell: &PlannedCell| Lane { group, out: cell.reference, ..Lane::default() };
            lanes.extend(own.iter().map(lane));
        }
        for ended in &self.journal.trials {
            let Some(at) = cells.iter().position(|cell| cell.id == ended.cell) else { continue };
            lanes[at].take(&ended.trial);
        }
        lanes
    }
}

impl Lane {
    fn take(&mut self, trial: &Trial) {
        self.trials += 1;
        self.cost = self.cost.max(Duration::from_nanos(trial.wall_ns).as_secs_f64());
        self.out |= !trial.status.has_figures();
        for phase in trial.phases.iter().filter(|phase| phase.status.has_figures()) {
            let whole = phase.runs.iter().filter(|run| !run.capped && run.ops == phase.ops);
            if let Some(ns) = whole.filter(|run| run.ops > 0).map(|run| run.elapsed_ns).min() {
                let known = self.whole.entry(phase.phase.clone()).or_insert(ns);
                *known = ns.min(*known);
            }
            if let Some(time) = phase.mean_time() {
                self.figures.entry(phase.phase.clone()).or_default().push(time);
            }
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod replay;
