use super::*;

#[test]
fn a_row_loses_the_weighted_share_of_the_largest_in_each_column() {
    let columns = [Resource::ServerCpu, Resource::Disk];
    let rows = [vec![Some(10.0), Some(0.0)], vec![Some(5.0), Some(4.0)], vec![Some(0.0); 2]];
    let scores = scores(&rows, &columns, &Weights::default());
    // Weights 3 and 1: 1 - 3/4, 1 - (1.5 + 1)/4, 1.
    assert_eq!(scores, [Some(0.25), Some(0.375), Some(1.0)]);
}

#[test]
fn what_was_not_measured_is_no_zero() {
    let columns = [Resource::ServerCpu, Resource::Network];
    let rows = [vec![Some(8.0), None], vec![Some(4.0), Some(1.0)]];
    let weights = Weights::default();
    assert_eq!(scores(&rows, &columns, &weights), [None, Some(0.0)]);
    let weights = Weights { network: 0.0, ..weights };
    assert_eq!(scores(&rows, &columns, &weights), [Some(0.0), Some(0.5)]);
}

#[test]
fn no_table_divides_by_nothing() {
    let zero = vec![Some(0.0)];
    assert_eq!(scores(&[zero], &[Resource::Io], &Weights::default()), [Some(1.0)]);
    let none = Weights { cpu: 0.0, memory: 0.0, io: 0.0, network: 0.0, disk: 0.0, effort: 0.0 };
    assert_eq!(scores(&[vec![Some(1.0)]], &[Resource::Io], &none), [None]);
}

#[test]
fn weights_are_read_from_words() {
    let weights: Weights = "cpu=1, io=0".parse().unwrap();
    assert_eq!(weights, Weights { cpu: 1.0, io: 0.0, ..Weights::default() });
    for wrong in ["", "cpu", "cpu=", "cpu=-1", "cpu=NaN", "cpu=inf", "gpu=1", "cpu=1,,"] {
        assert!(wrong.parse::<Weights>().is_err(), "{wrong}");
    }
}

#[test]
fn effort_that_nobody_graded_weighs_nothing_for_its_row_and_takes_no_score_away() {
    let columns = [Resource::ServerCpu, Resource::Effort];
    let rows = [vec![Some(10.0), Some(5.0)], vec![Some(5.0), Some(1.0)], vec![Some(4.0), None]];
    let scores = scores(&rows, &columns, &Weights::default());
    // Weights 3 and 1: 1 - 4/4, 1 - (1.5 + 0.2)/4, and of CPU alone 1 - 1.2/3.
    let expected = [0.0, 0.575, 0.6];
    for (score, expected) in scores.into_iter().zip(expected) {
        assert!((score.unwrap() - expected).abs() < 1e-12, "{score:?}");
    }
}
