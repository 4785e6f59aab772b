//! Intervals of a ratio of geometric means over the phases of several cells.

use std::iter::repeat_n;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::are_enough;
use super::distribution::Distribution;

/// Largest number of draws of a side that are all counted.
const MOST_COUNTED: f64 = 20_000.0;

/// Number of random draws if there are more.
const DRAWS: usize = 2_000;

/// Seed of every interval, so that a file always gives the same report.
const SEED: u64 = 0x6d61_726b;

/// Returns the 95 % interval of a geometric mean of ratios of medians, `above` over `below`, over
/// the phases of several cells. Each cell has its phases, and each phase its trials, in the same
/// order for all phases of a cell. A trial is one process that runs all phases of its cell, so
/// trials are drawn as a whole: their luck affects every phase.
///
/// All draws of a side are counted if no more than 20,000 differ: for one cell with up to eight
/// trials, two with up to five, three or four with three. Otherwise 2,000 are drawn with a fixed
/// seed.
///
/// `None` if some cell has fewer than [`FEWEST_TRIALS`](super::FEWEST_TRIALS), if its phases do not
/// have the same trials, or if there is no phase.
pub fn mean_ratio_interval(above: &[Vec<&[f64]>], below: &[Vec<&[f64]>]) -> Option<[f64; 2]> {
    let (above, below) = (cells(above)?, cells(below)?);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut means = |cells: &[Cell]| {
        let few = cells.iter().map(Cell::multisets).product::<f64>() <= MOST_COUNTED;
        means(cells, if few { counted(cells) } else { drawn(cells, &mut random) })
    };
    means(&above).ratio_interval(&means(&below))
}

/// Sum over some phases of the logarithm of a draw's medians, and the probability of the draw.
type Sum = (f64, f64);

fn cells(cells: &[Vec<&[f64]>]) -> Option<Vec<Cell>> {
    let cells: Option<Vec<Cell>> = cells.iter().map(|phases| Cell::new(phases)).collect();
    cells.filter(|cells| !cells.is_empty())
}

/// Returns the distribution of the geometric mean over all phases.
fn means(cells: &[Cell], sums: Vec<Sum>) -> Distribution {
    let phases = cells.iter().map(|cell| cell.phases.len()).sum::<usize>() as f64;
    Distribution::new(sums.into_iter().map(|(sum, share)| ((sum / phases).exp(), share)).collect())
}

/// Returns all draws: every one of a cell with every one of the others.
fn counted(cells: &[Cell]) -> Vec<Sum> {
    cells.iter().fold(vec![(0.0, 1.0)], |sums, cell| {
        let draws = cell.all_draws();
        let with = |(sum, share): Sum| draws.iter().map(move |draw| (sum + draw.0, share * draw.1));
        sums.into_iter().flat_map(with).collect()
    })
}

/// Returns random draws.
fn drawn(cells: &[Cell], random: &mut Xoshiro256PlusPlus) -> Vec<Sum> {
    let mut draw = || cells.iter().map(|cell| cell.draw(random)).sum();
    (0..DRAWS).map(|_| (draw(), 1.0 / DRAWS as f64)).collect()
}

/// The trials of one cell.
struct Cell {
    trials: usize,
    /// For each phase the times, ascending, each with the index of its trial.
    phases: Vec<Vec<(f64, usize)>>,
}

impl Cell {
    fn new(phases: &[&[f64]]) -> Option<Self> {
        let trials = phases.first()?.len();
        let usable = |phase: &&[f64]| phase.len() == trials && are_enough(phase);
        let sorted = |phase: &&[f64]| {
            let mut times: Vec<(f64, usize)> = phase.iter().copied().zip(0..).collect();
            times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            times
        };
        let enough = phases.iter().all(usable);
        enough.then(|| Self { trials, phases: phases.iter().map(sorted).collect() })
    }

    /// Returns the number of different draws: the multisets of as many trials as there are.
    fn multisets(&self) -> f64 {
        (1..=self.trials).map(|i| (self.trials - 1 + i) as f64 / i as f64).product()
    }

    /// Returns the sum over the phases of the logarithm of the median, with each trial drawn
    /// `times[trial]` times.
    fn log_medians(&self, times: &[usize]) -> f64 {
        // The middle draw, or the middle two.
        let (before, middle) = ((self.trials - 1) / 2, 2 - self.trials % 2);
        let log_median = |phase: &Vec<(f64, usize)>| {
            let drawn = phase.iter().flat_map(|(time, trial)| repeat_n(*time, times[*trial]));
            (drawn.skip(before).take(middle).sum::<f64>() / middle as f64).ln()
        };
        self.phases.iter().map(log_median).sum()
    }

    /// Returns one draw.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let mut times = vec![0; self.trials];
        for _ in 0..self.trials {
            times[random_index(random, self.trials)] += 1;
        }
        self.log_medians(&times)
    }

    /// Returns all different draws.
    fn all_draws(&self) -> Vec<Sum> {
        let mut sums = Vec::new();
        let one = (self.trials as f64).powi(-(self.trials as i32));
        let mut times = vec![0; self.trials];
        each_draw(&mut times, 0, self.trials, one, &mut |times, share| {
            sums.push((self.log_medians(times), share));
        });
        sums
    }
}

/// Calls `visit` with every way to draw the trials from `place` on `left` times in total, and its
/// probability together with those before.
fn each_draw(
    times: &mut [usize],
    place: usize,
    left: usize,
    share: f64,
    visit: &mut impl FnMut(&[usize], f64),
) {
    if place + 1 == times.len() {
        times[place] = left;
        return visit(times, share);
    }
    let mut ways = 1.0;
    for count in 0..=left {
        times[place] = count;
        each_draw(times, place + 1, left - count, share * ways, visit);
        ways *= (left - count) as f64 / (count + 1) as f64;
    }
}

/// Returns an index below `n`, by Lemire's multiplication: uniform except for a bias of n / 2^64.
fn random_index(random: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_ratio_where_there_is_one_phase() {
        let (slow, fast): (&[f64], &[f64]) = (&[30.0, 10.0, 20.0], &[10.0; 3]);
        let [low, high] = mean_ratio_interval(&[vec![slow]], &[vec![fast]]).unwrap();
        assert!((low - 1.0).abs() < 1e-9 && (high - 3.0).abs() < 1e-9, "{low} {high}");
        // A trial that was slow in every phase makes the mean as uncertain as one phase is.
        let twice = mean_ratio_interval(&[vec![slow, slow]], &[vec![fast, fast]]).unwrap();
        assert!((twice[0] - low).abs() < 1e-9 && (twice[1] - high).abs() < 1e-9, "{twice:?}");
        // The trials of other cells are independent: five are seldom all slow.
        let apart = mean_ratio_interval(&vec![vec![slow]; 5], &vec![vec![fast]; 5]).unwrap();
        assert!(apart[0] > 1.1 && apart[1] < 2.9, "{apart:?}");
    }

    #[test]
    fn a_mean_of_too_few_or_of_other_trials_has_no_interval() {
        let (three, two): (&[f64], &[f64]) = (&[1.0; 3], &[1.0; 2]);
        let both = mean_ratio_interval(&[vec![three], vec![three]], &[vec![three], vec![three]]);
        assert_eq!(both, Some([1.0, 1.0]));
        for above in [vec![vec![two]], vec![vec![three, two]], vec![vec![]], vec![]] {
            assert_eq!(mean_ratio_interval(&above, &[vec![three]]), None);
            assert_eq!(mean_ratio_interval(&[vec![three]], &above), None);
        }
    }

    /// The sum over the phases of a cell of the logarithm of the median, for every draw of the n^n.
    fn one_by_one(phases: &[&[f64]]) -> Vec<f64> {
        let n = phases[0].len();
        let sum = |number: usize| {
            let draw = |phase: &&[f64]| -> Vec<f64> {
                (0..n).map(|at| phase[number / n.pow(at as u32) % n]).collect()
            };
            phases.iter().map(|phase| super::super::median(&draw(phase)).unwrap().ln()).sum()
        };
        (0..n.pow(n as u32)).map(sum).collect()
    }

    #[test]
    fn few_draws_are_counted_as_if_each_were_made() {
        let one: [&[f64]; 2] = [&[10.0, 14.0, 11.0], &[30.0, 35.0, 28.0]];
        let two: [&[f64]; 1] = [&[5.0, 5.5, 4.0]];
        let four: [&[f64]; 3] =
            [&[9.0, 12.0, 8.0, 10.0], &[25.0, 31.0, 20.0, 28.0], &[4.0, 4.2, 4.1, 6.0]];
        let mut ratios = Vec::new();
        let (first, second) = (one_by_one(&one), one_by_one(&two));
        for below in one_by_one(&four) {
            for one in &first {
                ratios.extend(second.iter().map(|two| (one + two - below) / 3.0));
            }
        }
        ratios.sort_by(f64::total_cmp);
        let tail = ratios.len().div_ceil(40);
        let ends = [ratios[tail - 1], ratios[ratios.len() - tail]].map(f64::exp);

        let found = mean_ratio_interval(&[one.to_vec(), two.to_vec()], &[four.to_vec()]).unwrap();
        for (found, end) in found.into_iter().zip(ends) {
            assert!((found / end - 1.0).abs() < 1e-9, "{found}, of every draw {end}");
        }
    }

    #[test]
    fn what_is_drawn_is_near_what_is_counted() {
        let phases: [&[f64]; 2] = [
            &[10.0, 10.4, 9.7, 10.9, 10.1, 9.9, 10.6, 10.2],
            &[3.1, 3.3, 3.2, 3.0, 3.4, 2.9, 3.25, 3.15],
        ];
        let cells = cells(&[phases.to_vec()]).unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let all = counted(&cells);
        assert_eq!(all.len(), 6_435, "the multisets of eight out of eight");
        let total: f64 = all.iter().map(|(_, share)| share).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let all = means(&cells, all).interval().unwrap();
        let some = means(&cells, drawn(&cells, &mut random)).interval().unwrap();
        for (all, some) in all.into_iter().zip(some) {
            assert!((some / all - 1.0).abs() < 0.005, "{some}, of all draws {all}");
        }
    }
}
