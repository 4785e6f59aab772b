//! Percentile intervals by the bootstrap: B. Efron and R. J. Tibshirani, "An Introduction to the
//! Bootstrap", Chapman & Hall 1993, chapter 13. Trials are drawn again with replacement, as many as
//! there are, and the median of each draw is kept; the middle 95 % of these medians is the interval.
//!
//! With few trials it says less than its name: of three it is their range, which holds the true
//! median in 75 % of all cases, of five in 94 % (for an interval from the smallest to the largest of
//! n it is 1 - 2^(1-n)). The tests measure what it covers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::is_measure;

/// Draws that an interval is made of: what Efron and Tibshirani call for in intervals.
pub const RESAMPLES: usize = 2_000;

/// With fewer trials there is no interval.
pub const FEWEST_TRIALS: usize = 3;

/// One seed for every interval, so that one file has one report.
const SEED: u64 = 0x6d61_726b;

/// The 95 % interval of the median of `trials`; `None` with fewer than [`FEWEST_TRIALS`] or where
/// one is no measure.
pub fn interval(trials: &[f64]) -> Option<[f64; 2]> {
    interval_of(trials, RESAMPLES)
}

fn interval_of(trials: &[f64], resamples: usize) -> Option<[f64; 2]> {
    let mut sample = Sample::of(trials)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    Some(middle((0..resamples).map(|_| sample.median(&mut random)).collect()))
}

/// The 95 % interval of the ratio of the medians, `above` over `below`. The trials of each are
/// drawn on their own: they ran apart.
pub fn ratio_interval(above: &[f64], below: &[f64]) -> Option<[f64; 2]> {
    ratio_interval_of(above, below, RESAMPLES)
}

fn ratio_interval_of(above: &[f64], below: &[f64], resamples: usize) -> Option<[f64; 2]> {
    let (mut above, mut below) = (Sample::of(above)?, Sample::of(below)?);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let ratios = (0..resamples).map(|_| above.median(&mut random) / below.median(&mut random));
    Some(middle(ratios.collect()))
}

/// The 95 % interval of a geometric mean of ratios of medians, `above` over `below`, over the phases
/// of several cells: of each cell its phases, of each phase its trials, in one order for all phases
/// of a cell. A trial is one process that runs all phases of its cell, so trials are drawn whole: what
/// one of them had of luck it had in every phase. `None` where some cell has fewer than
/// [`FEWEST_TRIALS`], or its phases have not the same trials, or there is no phase.
pub fn mean_ratio_interval(above: &[Vec<&[f64]>], below: &[Vec<&[f64]>]) -> Option<[f64; 2]> {
    mean_ratio_interval_of(above, below, RESAMPLES)
}

fn mean_ratio_interval_of(
    above: &[Vec<&[f64]>],
    below: &[Vec<&[f64]>],
    resamples: usize,
) -> Option<[f64; 2]> {
    let phases = above.iter().map(Vec::len).sum::<usize>();
    let (mut above, mut below) = (Cell::all(above)?, Cell::all(below)?);
    if phases == 0 {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut log = |cells: &mut [Cell]| {
        cells.iter_mut().map(|cell| cell.log_medians(&mut random)).sum::<f64>()
    };
    let means = (0..resamples).map(|_| (log(&mut above) - log(&mut below)) / phases as f64);
    Some(middle(means.collect()).map(f64::exp))
}

/// The phases of one cell, and room for a draw of its trials.
struct Cell<'a> {
    phases: &'a [&'a [f64]],
    places: Vec<usize>,
    drawn: Vec<f64>,
}

impl<'a> Cell<'a> {
    fn all(cells: &'a [Vec<&'a [f64]>]) -> Option<Vec<Self>> {
        cells.iter().map(|phases| Self::of(phases)).collect()
    }

    fn of(phases: &'a [&'a [f64]]) -> Option<Self> {
        let trials = phases.first()?.len();
        let usable =
            |phase: &&[f64]| phase.len() == trials && phase.iter().all(|trial| is_measure(*trial));
        let enough = trials >= FEWEST_TRIALS && phases.iter().all(usable);
        enough.then(|| Self { phases, places: vec![0; trials], drawn: vec![0.0; trials] })
    }

    /// The sum over the phases of the logarithm of the median of one draw of whole trials.
    fn log_medians(&mut self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let n = self.places.len();
        self.places.fill_with(|| place(random, n));
        let mut sum = 0.0;
        for phase in self.phases {
            for (drawn, place) in self.drawn.iter_mut().zip(&self.places) {
                *drawn = phase[*place];
            }
            sum += median_of(&mut self.drawn).ln();
        }
        sum
    }
}

/// Trials, and room for a draw of them.
struct Sample<'a> {
    trials: &'a [f64],
    drawn: Vec<f64>,
}

impl<'a> Sample<'a> {
    fn of(trials: &'a [f64]) -> Option<Self> {
        let usable = trials.len() >= FEWEST_TRIALS && trials.iter().all(|trial| is_measure(*trial));
        usable.then(|| Self { trials, drawn: vec![0.0; trials.len()] })
    }

    /// The median of one draw.
    fn median(&mut self, random: &mut Xoshiro256PlusPlus) -> f64 {
        let trials = self.trials;
        self.drawn.fill_with(|| trials[place(random, trials.len())]);
        median_of(&mut self.drawn)
    }
}

/// A place below `n`, by Lemire's multiplication: uniform but for a bias of n / 2^64.
fn place(random: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

/// The median of what was drawn, which it puts in another order.
fn median_of(drawn: &mut [f64]) -> f64 {
    let n = drawn.len();
    let (lower, upper, _) = drawn.select_nth_unstable_by(n / 2, f64::total_cmp);
    match lower.iter().copied().reduce(f64::max) {
        Some(below) if n.is_multiple_of(2) => f64::midpoint(below, *upper),
        _ => *upper,
    }
}

/// Between the 2.5 % and the 97.5 % point of so many values.
fn middle(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    let tail = values.len() / 40;
    [values[tail - 1], values[values.len() - tail]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of the simulations: fewer than in use, which widens nothing, so that they are quick.
    const QUICK: usize = 200;

    /// Normal samples by the polar method of G. Marsaglia and T. A. Bray, "A Convenient Method for
    /// Generating Normal Variables", SIAM Review 6(3), 1964.
    struct Normal(Xoshiro256PlusPlus);

    impl Normal {
        fn unit(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }

        fn trials(&mut self, n: usize) -> Vec<f64> {
            let mut one = || loop {
                let (x, y) = (self.unit(), self.unit());
                let square = x * x + y * y;
                if square > 0.0 && square < 1.0 {
                    return 100.0 + 5.0 * x * (-2.0 * square.ln() / square).sqrt();
                }
            };
            (0..n).map(|_| one()).collect()
        }
    }

    /// Share of 2,000 repetitions in which `holds` of samples of a known distribution.
    fn share(mut holds: impl FnMut(&mut Normal) -> bool) -> f64 {
        let mut normal = Normal(Xoshiro256PlusPlus::seed_from_u64(7));
        (0..2_000).filter(|_| holds(&mut normal)).count() as f64 / 2_000.0
    }

    /// How often an interval of `n` trials holds the true median.
    fn coverage(n: usize) -> f64 {
        share(|normal| {
            let [low, high] = interval_of(&normal.trials(n), QUICK).unwrap();
            low <= 100.0 && 100.0 <= high
        })
    }

    /// How often a difference is shown between two that are equal.
    fn told_apart(n: usize) -> f64 {
        share(|normal| {
            let (one, other) = (normal.trials(n), normal.trials(n));
            let [low, high] = ratio_interval_of(&one, &other, QUICK).unwrap();
            low > 1.0 || high < 1.0
        })
    }

    #[test]
    fn an_interval_of_twenty_trials_covers_the_truth_as_often_as_it_says() {
        let covered = coverage(20);
        println!("20 trials: {covered}");
        assert!((0.88..=0.99).contains(&covered), "{covered}");
    }

    #[test]
    fn few_trials_cover_and_tell_apart_what_the_documents_say() {
        for (n, covers, apart) in
            [(3, 0.75, 0.10), (5, 0.94, 0.03), (10, 0.94, 0.03), (20, 0.95, 0.04)]
        {
            let (covered, told) = (coverage(n), told_apart(n));
            println!("{n} trials: {covered}, equals told apart {told}");
            assert!((covered - covers).abs() < 0.03, "{n}: covers {covered}");
            assert!((told - apart).abs() < 0.02, "{n}: tells apart {told}");
        }
    }

    /// How often a difference is shown between the means of two that are equal, over ten phases in
    /// one cell. What is luck of a whole trial weighs as much as what is luck of each phase.
    fn means_told_apart(n: usize) -> f64 {
        const PHASES: usize = 10;
        share(|normal| {
            let mut engine = || -> Vec<Vec<f64>> {
                let whole = normal.trials(n);
                let mut phase = || whole.iter().zip(normal.trials(n)).map(|(a, b)| a * b).collect();
                (0..PHASES).map(|_| phase()).collect()
            };
            let (one, other) = (engine(), engine());
            let [one, other] =
                [&one, &other].map(|engine| [engine.iter().map(Vec::as_slice).collect()]);
            let interval = mean_ratio_interval_of(&one, &other, QUICK);
            let [low, high] = interval.unwrap();
            low > 1.0 || high < 1.0
        })
    }

    #[test]
    fn means_over_phases_are_told_apart_by_mistake_as_often_as_the_documents_say() {
        for (n, apart) in [(3, 0.10), (5, 0.03), (10, 0.04)] {
            let told = means_told_apart(n);
            println!("{n} trials: equal means told apart {told}");
            assert!((told - apart).abs() < 0.02, "{n}: tells apart {told}");
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_ratio_where_there_is_one_phase() {
        let (slow, fast): (&[f64], &[f64]) = (&[30.0, 10.0, 20.0], &[10.0; 3]);
        let [low, high] = mean_ratio_interval(&[vec![slow]], &[vec![fast]]).unwrap();
        assert!((low - 1.0).abs() < 1e-9 && (high - 3.0).abs() < 1e-9, "{low} {high}");
        // A trial that was slow in every phase makes the mean as uncertain as one phase is.
        let twice = mean_ratio_interval(&[vec![slow, slow]], &[vec![fast, fast]]).unwrap();
        assert!((twice[0] - low).abs() < 1e-9 && (twice[1] - high).abs() < 1e-9, "{twice:?}");
        // The trials of other cells are others: five are seldom all slow.
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
        }
    }

    #[test]
    fn a_difference_of_many_deviations_is_always_shown() {
        let shown = share(|normal| {
            let slow: Vec<f64> = normal.trials(3).iter().map(|trial| trial * 2.0).collect();
            ratio_interval_of(&slow, &normal.trials(3), QUICK).unwrap()[0] > 1.0
        });
        assert_eq!(shown, 1.0);
    }

    #[test]
    fn of_three_trials_the_interval_is_their_range_and_of_two_there_is_none() {
        assert_eq!(interval(&[30.0, 10.0, 20.0]), Some([10.0, 30.0]));
        assert_eq!(ratio_interval(&[30.0, 10.0, 20.0], &[10.0; 3]), Some([1.0, 3.0]));
        assert_eq!((interval(&[1.0, 2.0]), ratio_interval(&[1.0; 3], &[1.0; 2])), (None, None));
    }

    #[test]
    fn a_trial_that_is_no_measure_leaves_no_interval() {
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(interval(&[1.0, 2.0, bad]), None);
            assert_eq!(ratio_interval(&[1.0, 2.0, 3.0], &[1.0, bad, 2.0]), None);
        }
    }

    #[test]
    fn the_same_trials_have_the_same_interval_and_it_holds_their_median() {
        let trials = [9.0, 11.0, 10.0, 14.0, 8.0, 10.5];
        let [low, high] = interval(&trials).unwrap();
        assert_eq!(interval(&trials), Some([low, high]));
        assert!(low < 10.25 && 10.25 < high && low >= 8.0 && high <= 14.0, "{low} {high}");
    }
}
