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
    let lanes = [lane(&[100.0; 3]), lane(&[130.0; 3]), lane(&[900.0])];
    assert_eq!(next(&lanes), None, "three trials each, and five times behind after one");
    let lanes = [lane(&[100.0]), lane(&[500.0]), lane(&[5_000.0])];
    assert!(next(&lanes).is_some_and(|at| at < 2), "the first two have an interval");
}

#[test]
fn two_that_are_near_each_other_are_measured_again_until_they_are_told_apart_or_alike() {
    let near = [lane(&[100.0, 104.0, 97.0]), lane(&[105.0, 108.0, 101.0]), lane(&[900.0])];
    assert!(next(&near).is_some_and(|at| at < 2));
    let many: Vec<f64> = (0..40).map(|n| 100.0 + f64::from(n % 5)).collect();
    let alike = [lane(&many), lane(&many.iter().map(|time| time * 1.01).collect::<Vec<_>>())];
    assert_eq!(next(&alike), None);
}

#[test]
fn neighbours_behind_the_first_are_told_apart_too() {
    let lanes = [lane(&[10.0; 3]), lane(&[300.0, 310.0]), lane(&[305.0])];
    assert_eq!(
        next(&[lanes[0].clone(), lane(&[30.0; 3]), lanes[1].clone(), lanes[2].clone()]),
        Some(3)
    );
}

#[test]
fn a_cell_that_ended_badly_and_a_reference_are_left_alone() {
    let out = Lane { out: true, ..lane(&[101.0]) };
    assert_eq!(next(&[lane(&[100.0]), out]), None);
}

#[test]
fn cells_of_other_groups_do_not_compete() {
    let other = Lane { group: 1, ..lane(&[101.0]) };
    assert_eq!(next(&[lane(&[100.0]), other]), None);
}
