//! A run that ends when its time is over. It measures every cell once, and then repeats the cells
//! whose order is least certain.
//!
//! A further trial goes to neighbours in the order of a phase that are not told apart, with
//! priority for the first two. Two are told apart if their means, as logarithms over trials, differ
//! by more than [`CERTAIN`] standard errors. They are alike if both are known to [`CLOSE`].
//!
//! Few trials say little about the variance between trials of a cell. A variance of [`PRIOR`]
//! therefore counts as [`PRIOR_TRIALS`] of them (the mean of an inverse-gamma posterior). Choosing
//! where trials go does not change an interval over the trials of one cell, except for cells that
//! stop early because they happen to agree. The rule never stops a cell in the first two places
//! before it has [`FEWEST`]. `docs/statistics.md` describes the experiments.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use embermark_meter::statistics::median;
use embermark_model::result::Trial;

use crate::Result;
use crate::cells::PlannedCell;
use crate::result_file::assemble;
use crate::schedule::Turn;
use crate::session::Run;

mod pass;

pub(crate) use pass::{competes, expected, rank};

/// Number of standard errors between two means that are told apart.
const CERTAIN: f64 = 3.0;

/// Standard error below which two cells are alike.
const CLOSE: f64 = 0.03;

/// Least variance of the logarithms of a cell's trials before any is known: a deviation of 10 %.
const PRIOR: f64 = 0.01;

/// Number of trials that the prior counts as.
const PRIOR_TRIALS: f64 = 2.0;

/// Smallest number of trials for an interval, which is then their range. With it, one pair of equal
/// cells in ten is called different.
const RANGE: u32 = 3;

/// Number of trials for the first two cells of a phase. With their interval, fewer than one pair of
/// equal cells in twenty is called different.
const FEWEST: u32 = 5;

/// A run is stopped when it takes this many times as long as the best.
const MAX_SLOWDOWN: u64 = 20;

/// No run is stopped before this time, because a hiccup of the machine takes as long.
const LEAST_BOUND: Duration = Duration::from_millis(10);

/// Interval at which the results are shown.
const SHOW_INTERVAL: Duration = Duration::from_secs(10);

/// Share of the time reserved for the counting trials, once every cell has a timed one.
const COUNTING_SHARE: f64 = 0.3;

/// The trials of a cell so far.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// Group of cells that compete with each other.
    group: usize,
    /// Number of its trials.
    trials: u32,
    /// Duration of a trial in seconds.
    cost: f64,
    /// Time of an operation in ns, by phase, for each trial.
    figures: BTreeMap<String, Vec<f64>>,
    /// Shortest complete run in ns, by phase.
    whole: BTreeMap<String, u64>,
    /// Whether the cell gets no further trials: one of its trials did not end well, or it is a
    /// reference.
    out: bool,
}

/// Returns the logarithms of times, and their mean.
fn logarithms(times: &[f64]) -> (Vec<f64>, f64) {
    let logs: Vec<f64> = times.iter().filter(|time| **time > 0.0).map(|time| time.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (logs, mean)
}

/// Returns the sum of the squared distances from a mean.
fn squares(logs: &[f64], mean: f64) -> f64 {
    logs.iter().map(|log| (log - mean).powi(2)).sum()
}

/// Returns the mean of the logarithms of times and its squared standard error. `prior` is the
/// variance of trials of other cells.
fn known(times: &[f64], prior: f64) -> Option<(f64, f64)> {
    let (logs, mean) = logarithms(times);
    let n = logs.len() as f64;
    let variance = PRIOR_TRIALS.mul_add(prior, squares(&logs, mean)) / (PRIOR_TRIALS + n - 1.0);
    (!logs.is_empty()).then_some((mean, variance / n))
}

/// Returns the variance of trials of cells that compete in a phase: the median over cells with at
/// least [`RANGE`] trials, at least [`PRIOR`].
fn prior<'a>(cells: impl Iterator<Item = &'a Vec<f64>>) -> f64 {
    let several = cells.filter(|times| times.len() >= RANGE as usize).map(|times| {
        let (logs, mean) = logarithms(times);
        squares(&logs, mean) / (logs.len() as f64 - 1.0)
    });
    median(&several.collect::<Vec<f64>>()).map_or(PRIOR, |variance| variance.max(PRIOR))
}

/// Returns the index of the lane that gains most from a further trial, relative to its duration.
/// `None` if every order is certain.
fn next_lane(lanes: &[Lane]) -> Option<usize> {
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

/// Returns the longest time of a run of a cell in ns, by phase: [`MAX_SLOWDOWN`] times the shortest
/// of its competitors.
fn bounds(lanes: &[Lane], cell: usize) -> BTreeMap<String, u64> {
    let mut bounds = BTreeMap::new();
    let competes =
        |(at, lane): &(usize, &Lane)| *at != cell && lane.group == lanes[cell].group && !lane.out;
    for (_, lane) in lanes.iter().enumerate().filter(competes) {
        for (phase, ns) in &lane.whole {
            let bound = ns.saturating_mul(MAX_SLOWDOWN).max(LEAST_BOUND.as_nanos() as u64);
            let known = bounds.entry(phase.clone()).or_insert(bound);
            *known = bound.min(*known);
        }
    }
    bounds
}

impl Run<'_> {
    /// Counts the time of trials before an interrupt, in ns, as part of the run's time.
    pub(crate) fn count_earlier_time(&mut self, ns: u64) {
        let earlier = self.began.checked_sub(Duration::from_nanos(ns));
        // None if the machine has been on for a shorter time: then the run may take all of its time.
        self.began = earlier.unwrap_or(self.began);
    }

    /// Returns when a run with a time limit ends.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.plan.lasts_ms.map(|ms| self.began + Duration::from_millis(ms))
    }

    /// Runs every cell once, and then repeats uncertain cells until the time is over or all are
    /// certain.
    pub(crate) fn race(&mut self, cells: &[PlannedCell], ends: Instant) -> Result<()> {
        self.first_pass(cells, ends)?;
        let whole = Duration::from_millis(self.plan.lasts_ms.unwrap_or_default());
        let counting = if self.cells_to_count(cells).is_empty() { 0.0 } else { COUNTING_SHARE };
        self.continue_race(cells, ends.checked_sub(whole.mul_f64(counting)).unwrap_or(ends))
    }

    /// Repeats uncertain cells until the time is over or all are certain. Repeats nothing while a
    /// cell other than a follower has no trial.
    pub(crate) fn continue_race(&mut self, cells: &[PlannedCell], ends: Instant) -> Result<()> {
        let lanes = self.lanes(cells);
        let lacks = |(cell, lane): (&PlannedCell, &Lane)| {
            lane.trials == 0 && !pass::follows(&cell.id, cells)
        };
        if cells.iter().zip(&lanes).any(lacks) {
            return Ok(());
        }
        let mut looked = Instant::now();
        loop {
            if looked.elapsed() >= SHOW_INTERVAL {
                self.progress.so_far(&assemble(&self.journal));
                looked = Instant::now();
            }
            let lanes = self.lanes(cells);
            let Some(cell) = next_lane(&lanes) else { return Ok(()) };
            if Instant::now() + Duration::from_secs_f64(lanes[cell].cost) > ends {
                return Ok(());
            }
            self.repeat_cell(cell, lanes[cell].trials, cells)?;
        }
    }

    fn repeat_cell(&mut self, cell: usize, trial: u32, cells: &[PlannedCell]) -> Result<()> {
        let order = self.journal.trials.len() as u32;
        let info = self.options.catalog.workload(&cells[cell].id.workload)?.info();
        let lanes = self.lanes(cells);
        self.bounds = bounds(&lanes, cell);
        // How long another trial takes is known. The first ones of a table share what is left.
        let lacks = |lane: &&Lane| lane.group == lanes[cell].group && lane.trials == 0;
        let first = lanes.iter().filter(lacks).count().max(1) as u32;
        let left = self.ends().filter(|_| trial == 0);
        self.share = left.map(|ends| ends.saturating_duration_since(Instant::now()) / first);
        // A phase that lasts as long as requested is not slow.
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
            lanes[at].add_trial(&ended.trial);
        }
        lanes
    }
}

impl Lane {
    fn add_trial(&mut self, trial: &Trial) {
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
