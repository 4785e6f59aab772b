mod replay;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;

/// A cell of group 0 with the times of one phase.
fn lane(times: &[f64]) -> Lane {
    Lane {
        trials: times.len() as u32,
        cost: 1.0,
        figures: BTreeMap::from([("read".to_owned(), times.to_vec())]),
        ..Lane::default()
    }
}

#[test]
fn who_is_far_behind_after_one_trial_is_not_measured_again() {
    let lanes = [lane(&[100.0; 5]), lane(&[130.0; 5]), lane(&[900.0])];
    assert_eq!(next_lane(&lanes), None, "five trials each, and five times behind after one");
    let lanes = [lane(&[100.0]), lane(&[500.0]), lane(&[5_000.0])];
    assert!(next_lane(&lanes).is_some_and(|at| at < 2), "the first two have an interval");
}

#[test]
fn a_cell_whose_interval_would_be_the_range_of_three_trials_goes_on_to_five() {
    for trials in [3, 4] {
        let lanes = [lane(&[100.0; 5]), lane(&[130.0; 5]), lane(&[900.0; 5][..trials])];
        assert_eq!(next_lane(&lanes), Some(2));
    }
    let out = Lane { out: true, ..lane(&[900.0; 3]) };
    assert_eq!(next_lane(&[lane(&[100.0; 5]), lane(&[130.0; 5]), out]), None);
}

#[test]
fn two_that_are_near_each_other_are_measured_again_until_they_are_told_apart_or_alike() {
    let near = [
        lane(&[100.0, 104.0, 97.0, 101.0, 99.0]),
        lane(&[105.0, 108.0, 101.0, 104.0, 106.0]),
        lane(&[900.0]),
    ];
    assert!(next_lane(&near).is_some_and(|at| at < 2));
    let many: Vec<f64> = (0..40).map(|n| 100.0 + f64::from(n % 5)).collect();
    let alike = [lane(&many), lane(&many.iter().map(|time| time * 1.01).collect::<Vec<_>>())];
    assert_eq!(next_lane(&alike), None);
}

#[test]
fn one_trial_says_nothing_where_those_of_others_differ_tenfold() {
    let scattered = [100.0, 1_100.0, 90.0, 800.0, 120.0, 700.0, 100.0, 900.0];
    let lanes = [lane(&scattered), lane(&scattered), lane(&[3_000.0])];
    assert_eq!(next_lane(&lanes), Some(2), "it is as likely to have met a busy disk as to be slow");
}

#[test]
fn neighbours_behind_the_first_are_told_apart_too() {
    let lanes = [lane(&[10.0; 5]), lane(&[30.0; 5]), lane(&[300.0, 310.0]), lane(&[305.0])];
    assert_eq!(next_lane(&lanes), Some(3));
}

#[test]
fn a_cell_that_ended_badly_and_a_reference_are_left_alone() {
    let out = Lane { out: true, ..lane(&[101.0]) };
    assert_eq!(next_lane(&[lane(&[100.0]), out]), None);
}

#[test]
fn a_run_is_bounded_by_twenty_times_the_shortest_whole_run_of_who_competes() {
    let whole = |ms: u64| Lane {
        whole: BTreeMap::from([("read".to_owned(), ms * 1_000_000)]),
        ..lane(&[100.0])
    };
    let other_group = Lane { group: 1, ..whole(1) };
    let reference = Lane { out: true, ..whole(1) };
    let lanes = [whole(4), whole(7), lane(&[900.0]), other_group, reference];
    let ms = |lanes: &[Lane], cell: usize| bounds(lanes, cell).get("read").map(|ns| ns / 1_000_000);
    assert_eq!((ms(&lanes, 2), ms(&lanes, 1), ms(&lanes, 0)), (Some(80), Some(80), Some(140)));
    assert_eq!(ms(&lanes[2..3], 0), None, "the first of all is bounded by the plan alone");
    assert_eq!(
        ms(
            &[
                Lane { whole: BTreeMap::from([("read".to_owned(), 100)]), ..lane(&[1.0]) },
                lane(&[9.0])
            ],
            1
        ),
        Some(10)
    );
}

#[test]
fn cells_of_other_groups_do_not_compete() {
    let other = Lane { group: 1, ..lane(&[101.0]) };
    assert_eq!(next_lane(&[lane(&[100.0]), other]), None);
}

/// A sample with mean 0 and deviation 1: the sum of twelve uniform ones minus 6.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    use rand_xoshiro::rand_core::Rng;
    (0..12).map(|_| random.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
}

/// A cell with this true time, whose trials differ by 5 %.
struct Truth {
    time: f64,
    random: Xoshiro256PlusPlus,
}

impl Truth {
    fn trial(&mut self) -> f64 {
        self.time * (0.05 * normal(&mut self.random)).exp()
    }
}

/// Races cells with these true times until `most` trials were made or all are certain.
fn raced(times: &[f64], most: u32, seed: u64) -> Vec<Lane> {
    let truth = |(at, time): (usize, &f64)| Truth {
        time: *time,
        random: Xoshiro256PlusPlus::seed_from_u64(seed * 100 + at as u64),
    };
    let mut truths: Vec<Truth> = times.iter().enumerate().map(truth).collect();
    let mut lanes: Vec<Lane> = truths.iter_mut().map(|truth| lane(&[truth.trial()])).collect();
    for _ in times.len() as u32..most {
        let Some(at) = next_lane(&lanes) else { break };
        let time = truths[at].trial();
        lanes[at].trials += 1;
        lanes[at].figures.entry("read".to_owned()).or_default().push(time);
    }
    lanes
}

/// The factor of a standard error in a 95 % interval over that many trials (Student's t).
const T: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

fn logs(lane: &Lane) -> Vec<f64> {
    lane.figures["read"].iter().map(|time| time.ln()).collect()
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn the_order_of_what_differs_is_right_with_a_quarter_of_the_trials_of_a_full_plan() {
    // Twelve engines, with typical distances. A full plan would have ten trials of each.
    let times = [10.0, 11.0, 12.5, 14.0, 20.0, 25.0, 31.0, 60.0, 90.0, 200.0, 700.0, 3_000.0];
    let (mut right, mut pairs) = (0, 0);
    for seed in 0..200 {
        let lanes = raced(&times, 30, seed);
        assert!(lanes.iter().map(|lane| lane.trials).sum::<u32>() <= 30);
        for a in 0..times.len() {
            for b in a + 1..times.len() {
                pairs += 1;
                right += u32::from(mean(&logs(&lanes[a])) < mean(&logs(&lanes[b])));
            }
        }
    }
    assert!(f64::from(right) >= 0.99 * f64::from(pairs), "{right} of {pairs}");
}

#[test]
fn intervals_over_the_trials_of_a_race_hold_what_they_say() {
    // Two that are alike and one near them. Every cell with three trials has an interval, which
    // must contain the true time in 95 of 100.
    let (mut held, mut intervals) = (0, 0);
    for seed in 0..600 {
        for (lane, time) in
            raced(&[100.0, 100.0, 108.0], 18, seed).iter().zip([100.0, 100.0, 108.0])
        {
            let (logs, n) = (logs(lane), lane.trials as usize);
            if n < 3 {
                continue;
            }
            let middle = mean(&logs);
            let squares: f64 = logs.iter().map(|log| (log - middle).powi(2)).sum();
            let error = (squares / (n - 1) as f64 / n as f64).sqrt();
            intervals += 1;
            held += u32::from((middle - f64::ln(time)).abs() <= T[(n - 2).min(8)] * error);
        }
    }
    assert!(f64::from(held) >= 0.93 * f64::from(intervals), "{held} of {intervals}");
}

#[test]
fn two_that_are_alike_are_seldom_told_apart() {
    let mut apart = 0;
    for seed in 0..600 {
        let lanes = raced(&[100.0, 100.0], 12, 10_000 + seed);
        let [a, b] = [0, 1].map(|at| known(&lanes[at].figures["read"], PRIOR).unwrap());
        apart += u32::from((a.0 - b.0).abs() >= CERTAIN * (a.1 + b.1).sqrt());
    }
    assert!(apart <= 30, "{apart} of 600");
}

#[test]
fn the_intervals_that_are_shown_cover_as_often_as_those_of_as_many_trials_without_a_race() {
    use embermark_meter::statistics::interval;
    let (mut held, mut usual, mut intervals) = (0_u32, 0_u32, 0_u32);
    for seed in 0..800 {
        let times = [100.0, 100.0, 104.0, 115.0];
        for (lane, time) in raced(&times, 24, 20_000 + seed).iter().zip(times) {
            let holds = |[low, high]: [f64; 2]| u32::from((low..=high).contains(&time));
            let Some(shown) = interval(&lane.figures["read"]) else { continue };
            let random = Xoshiro256PlusPlus::seed_from_u64(seed * 1_000 + u64::from(intervals));
            let mut truth = Truth { time, random };
            let as_many: Vec<f64> = (0..lane.trials).map(|_| truth.trial()).collect();
            intervals += 1;
            held += holds(shown);
            usual += interval(&as_many).map_or(0, holds);
        }
    }
    let (held, usual) = (f64::from(held), f64::from(usual));
    assert!(held >= usual - 0.02 * f64::from(intervals), "{held} and {usual} of {intervals}");
}
