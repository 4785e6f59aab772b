use super::*;

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
        assert_eq!(mean_ratio_interval(&[vec![three]], &above), None);
    }
}

/// The sum over the phases of a cell of the logarithm of the median, of every draw of the n^n.
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
