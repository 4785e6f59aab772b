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
        let n = self.trials.len();
        for place in &mut self.drawn {
            // Lemire's multiplication: uniform but for a bias of n / 2^64.
            *place = self.trials[((u128::from(random.next_u64()) * n as u128) >> 64) as usize];
        }
        let (lower, upper, _) = self.drawn.select_nth_unstable_by(n / 2, f64::total_cmp);
        match lower.iter().copied().reduce(f64::max) {
            Some(below) if n.is_multiple_of(2) => f64::midpoint(below, *upper),
            _ => *upper,
        }
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
