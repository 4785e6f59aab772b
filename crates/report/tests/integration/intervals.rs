//! Intervals, compared with an exact count of all draws. The page's intervals are compared with the
//! same file.

use std::fmt::Write;

use crate::written::assert_written;
use embermark_report::statistics::{includes_one, interval, median, ratio_interval};
use serde::Serialize;

/// Also the input of `page/tests/interval.test.ts`.
const GOLDEN: &str = "tests/golden/intervals.json";

/// Largest relative difference from the exact figure.
const WITHIN: f64 = 1e-9;

/// What is tested, the trials above, and those below.
type Case = (&'static str, &'static [f64], &'static [f64]);

const CASES: [Case; 24] = [
    ("three", &[12.0, 11.0, 13.5], &[10.0, 10.5, 9.5]),
    ("three that overlap", &[100.0, 110.0, 120.0], &[105.0, 115.0, 125.0]),
    ("three, of which one pair is equal", &[10.0, 11.0, 12.0], &[8.0, 9.0, 10.0]),
    ("four", &[3.1, 2.9, 3.0, 3.4], &[1.0, 1.2, 1.1, 0.9]),
    ("five", &[104.0, 99.0, 101.0, 100.0, 180.0], &[100.0, 98.0, 102.0, 103.0, 97.0]),
    ("five and four", &[21.0, 22.5, 20.0, 24.0, 23.0], &[19.0, 21.0, 20.5, 18.0]),
    ("six", &[9.0, 11.0, 10.0, 14.0, 8.0, 10.5], &[7.0, 7.5, 8.5, 6.5, 9.5, 7.25]),
    (
        "seven",
        &[70.1, 68.3, 71.9, 69.2, 75.5, 66.6, 70.7],
        &[68.0, 67.1, 69.9, 66.0, 71.3, 68.8, 67.7],
    ),
    ("seven, one far off", &[100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 900.0], &[100.0; 7]),
    ("eight and five", &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], &[3.0; 5]),
    (
        "ten",
        &[5.2, 5.0, 5.9, 4.8, 5.5, 5.1, 6.4, 5.3, 4.9, 5.7],
        &[4.9, 5.4, 4.6, 5.0, 5.8, 4.7, 5.3, 4.4, 5.1, 4.8],
    ),
    ("ten and three", &[7.0, 7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7, 7.8, 7.9], &[5.0, 5.5, 6.0]),
    (
        "fifteen",
        &[31.0, 29.5, 33.2, 30.1, 28.8, 35.0, 30.9, 31.7, 29.9, 32.4, 30.3, 34.1, 27.6, 31.2, 30.6],
        &[30.0, 28.1, 31.9, 29.3, 27.4, 33.0, 29.6, 30.8, 28.7, 31.3, 29.1, 32.2, 26.9, 30.2, 29.8],
    ),
    ("all are equal", &[4.0; 5], &[4.0; 5]),
    ("ties within and between", &[2.0, 2.0, 3.0, 3.0, 3.0], &[2.0, 3.0, 2.0, 2.0, 3.0]),
    ("the lower end is 1", &[10.0, 10.0, 10.0, 20.0, 30.0], &[10.0, 10.0, 10.0]),
    ("the upper end is 1", &[10.0, 10.0, 10.0], &[10.0, 30.0, 10.0, 20.0, 10.0]),
    ("just above 1", &[10.000000001, 10.000000002, 10.000000003], &[9.0, 10.0, 10.0]),
    ("an extreme ratio", &[1e12, 3e12, 2e12, 5e12, 4e12], &[0.5, 0.25, 0.125, 1.0, 0.75]),
    ("ratios of all sizes", &[1e-150, 1.0, 1e150, 1e-9], &[1e-140, 1e3, 1e9]),
    ("two are too few", &[1.0, 2.0], &[1.0, 2.0, 3.0]),
    ("two below are too few", &[1.0, 2.0, 3.0], &[1.0, 2.0]),
    ("zero is no measure", &[1.0, 2.0, 0.0], &[1.0, 2.0, 3.0]),
    // JSON has no value for NaN except null.
    ("what is no number is no measure", &[1.0, 2.0, 3.0], &[1.0, -2.0, f64::NAN, 4.0]),
];

/// A line of the file.
#[derive(Serialize)]
struct Golden {
    case: &'static str,
    above: &'static [f64],
    below: &'static [f64],
    /// Interval of the trials above. Absent if they have none.
    interval: Option<[f64; 2]>,
    ratio_interval: Option<[f64; 2]>,
    includes_one: Option<bool>,
}

/// A value and the number of draws that have it.
type Counted = (f64, u128);

/// Returns the medians of all draws, ascending. `None` if there is no interval.
fn medians(trials: &[f64]) -> Option<Vec<Counted>> {
    if trials.len() < 3 || !trials.iter().all(|trial| *trial > 0.0) {
        return None;
    }
    // The 823,543 draws of seven trials only in `make test-long`: the golden file is of them.
    let most = embermark_skips::cases(6, 7);
    let counted = if trials.len() <= most { one_by_one(trials) } else { by_places(trials) };
    Some(together(counted))
}

/// Makes every draw of the n^n.
fn one_by_one(trials: &[f64]) -> Vec<Counted> {
    let n = trials.len();
    let draw = |number: usize| -> Vec<f64> {
        (0..n as u32).map(|at| trials[number / n.pow(at) % n]).collect()
    };
    (0..n.pow(n as u32)).map(|number| (median(&draw(number)).unwrap(), 1)).collect()
}

/// Counts the draws by the trials in their middle.
fn by_places(trials: &[f64]) -> Vec<Counted> {
    let n = trials.len();
    let mut sorted = trials.to_vec();
    sorted.sort_by(f64::total_cmp);
    let pairs = (0..n).flat_map(|lower| (lower..n).map(move |upper| (lower, upper)));
    pairs
        .map(|(lower, upper)| ((sorted[lower] + sorted[upper]) / 2.0, ways(n, lower, upper)))
        .collect()
}

/// Returns the number of draws of n from n with these trials in the middle. It goes through the
/// trials in order and keeps the number of ways to have drawn each number by then.
fn ways(n: usize, lower: usize, upper: usize) -> u128 {
    let mut ways = vec![0; n + 1];
    ways[0] = 1;
    for trial in 0..n {
        let mut next = vec![0; n + 1];
        for before in 0..=n {
            for count in 0..=n - before {
                let holds = |place| (before..before + count).contains(&place);
                if holds((n - 1) / 2) == (trial == lower) && holds(n / 2) == (trial == upper) {
                    next[before + count] += ways[before] * choose(n - before, count);
                }
            }
        }
        ways = next;
    }
    ways[n]
}

fn choose(n: usize, k: usize) -> u128 {
    (1..=k).fold(1, |ways, i| ways * (n - k + i) as u128 / i as u128)
}

/// Combines equal values, ascending.
fn together(mut counted: Vec<Counted>) -> Vec<Counted> {
    counted.sort_by(|a, b| a.0.total_cmp(&b.0));
    counted.dedup_by(|next, kept| {
        next.0 == kept.0 && {
            kept.1 += next.1;
            true
        }
    });
    counted
}

/// Returns the smallest value that a fortieth is at or below, and the largest that a fortieth is at
/// or above.
fn ends(counted: &[Counted]) -> [f64; 2] {
    let total: u128 = counted.iter().map(|(_, ways)| ways).sum();
    let [mut low, mut high] = [0, counted.len() - 1];
    let (mut below, mut above) = (counted[low].1, counted[high].1);
    while 40 * below < total {
        low += 1;
        below += counted[low].1;
    }
    while 40 * above < total {
        high -= 1;
        above += counted[high].1;
    }
    [counted[low].0, counted[high].0]
}

/// Returns the ratios of all draws of both, ascending.
fn ratios(above: &[Counted], below: &[Counted]) -> Vec<Counted> {
    let of = |a: &Counted, b: &Counted| (a.0 / b.0, a.1 * b.1);
    together(above.iter().flat_map(|a| below.iter().map(move |b| of(a, b))).collect())
}

fn near(found: Option<[f64; 2]>, counted: Option<[f64; 2]>) -> bool {
    let ends = found.into_iter().flatten().zip(counted.into_iter().flatten());
    found.is_some() == counted.is_some()
        && ends.into_iter().all(|(found, counted)| (found / counted - 1.0).abs() <= WITHIN)
}

#[test]
fn intervals_are_those_of_a_count_of_all_draws() {
    let mut golden = String::from("[\n");
    for (at, (name, above, below)) in CASES.into_iter().enumerate() {
        let medians = (medians(above), medians(below));
        let counted = medians.0.as_deref().map(ends);
        let found = interval(above);
        assert!(near(found, counted), "{name}: {found:?}, counted {counted:?}");

        let both = medians.0.zip(medians.1);
        let counted_ratio = both.map(|(above, below)| ends(&ratios(&above, &below)));
        let found = ratio_interval(above, below);
        assert!(near(found, counted_ratio), "{name}: ratio {found:?}, counted {counted_ratio:?}");

        let open = counted_ratio.map(|[low, high]| low <= 1.0 && 1.0 <= high);
        assert_eq!(found.map(includes_one), open, "{name}: {found:?}");
        let case = serde_json::to_string(&Golden {
            case: name,
            above,
            below,
            interval: counted,
            ratio_interval: counted_ratio,
            includes_one: open,
        });
        let comma = if at + 1 < CASES.len() { "," } else { "" };
        writeln!(golden, "  {}{comma}", case.unwrap()).unwrap();
    }
    golden.push_str("]\n");
    assert_written(GOLDEN, &golden);
}

#[test]
fn both_ways_to_count_agree() {
    for trials in [&[3.0, 1.0, 2.0][..], &[4.0, 1.0, 3.0, 3.0], &[1.0, 5.0, 2.0, 4.0, 8.0, 3.0]] {
        let mut by_places = together(by_places(trials));
        by_places.retain(|(_, ways)| *ways > 0);
        assert_eq!(together(one_by_one(trials)), by_places, "{trials:?}");
    }
}

/// With many trials, the distance of the median from the middle is as in a normal distribution.
#[test]
fn of_thousands_of_trials_the_interval_is_as_wide_as_theory_says() {
    for n in [1_000, 2_001, 2_100] {
        let trials: Vec<f64> = (1..=n).map(f64::from).collect();
        let (middle, reach) = (f64::from(n + 1) / 2.0, 1.96 * f64::from(n).sqrt() / 2.0);
        let [low, high] = interval(&trials).unwrap();
        assert!((low - (middle - reach)).abs() <= 1.0, "{n}: {low}");
        assert!((high - (middle + reach)).abs() <= 1.0, "{n}: {high}");
    }
}
