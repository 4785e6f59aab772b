use super::*;

fn row(id: i64, value: f64) -> Row {
    vec![Value::Int(id), Value::Float(value)]
}

fn set(rows: &[Row], optional: &[Row]) -> Expected {
    Expected::Set { rows: rows.to_vec(), optional: optional.to_vec() }
}

fn top(candidates: &[Row], limit: usize) -> Expected {
    let candidates = candidates.iter().map(|r| (r.clone(), Required::Yes)).collect();
    Expected::Top(Top { candidates, limit })
}

fn verdict(expected: &Expected, rows: &[Row]) -> Result<(), String> {
    expected.check(&Answer::Rows(rows.to_vec())).map_err(|d| d.0)
}

#[test]
fn a_set_is_right_in_any_order_and_within_tolerance() {
    let expected = set(&[row(1, 20.0), row(2, 30.0)], &[]);
    assert_eq!(verdict(&expected, &[row(2, 30.000_000_001), row(1, 20.0)]), Ok(()));
}

#[test]
fn a_missing_an_extra_a_double_and_a_wrong_row_are_each_named() {
    let expected = set(&[row(1, 20.0), row(2, 30.0)], &[]);
    let says = |rows: &[Row]| verdict(&expected, rows).unwrap_err();
    assert_eq!(says(&[row(1, 20.0)]), "row (2, 30) is missing");
    assert_eq!(says(&[row(2, 30.0)]), "row (1, 20) is missing");
    assert_eq!(
        says(&[row(1, 20.0), row(2, 30.0), row(3, 1.0)]),
        "row (3, 1) should not be in the answer"
    );
    assert_eq!(
        says(&[row(1, 20.0), row(1, 20.0), row(2, 30.0)]),
        "row (1, 20) should not be in the answer"
    );
    assert_eq!(
        says(&[row(1, 20.000_001), row(2, 30.0)]),
        "expected row (1, 20), got (1, 20.000001)"
    );
}

#[test]
fn rows_at_the_threshold_may_be_there_or_not_but_never_wrong() {
    let expected = set(&[row(1, 20.0)], &[row(2, 30.0)]);
    assert_eq!(verdict(&expected, &[row(1, 20.0)]), Ok(()));
    assert_eq!(verdict(&expected, &[row(1, 20.0), row(2, 30.0)]), Ok(()));
    assert!(verdict(&expected, &[row(1, 20.0), row(2, 31.0)]).is_err());
}

#[test]
fn a_top_list_must_be_in_order_and_leave_out_nothing_better() {
    let expected = top(&[row(7, 30.0), row(8, 29.0), row(9, 28.0)], 2);
    assert_eq!(verdict(&expected, &[row(7, 30.0), row(8, 29.0)]), Ok(()));
    for wrong in [
        &[row(8, 29.0), row(7, 30.0)][..],
        &[row(7, 30.0), row(9, 28.0)],
        &[row(7, 30.0)],
        &[row(7, 30.0), row(8, 29.0), row(9, 28.0)],
        &[row(7, 30.0), row(7, 30.0)],
    ] {
        assert!(verdict(&expected, wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn floats_within_tolerance_are_tied_and_integers_tie_by_id() {
    let expected = top(&[row(1, 30.0), row(2, 30.0 + 1e-12), row(3, 30.0)], 2);
    assert_eq!(verdict(&expected, &[row(3, 30.0), row(1, 30.0)]), Ok(()));

    let count = |id, n| vec![Value::Int(id), Value::Int(n)];
    let expected = top(&[count(1, 5), count(2, 5), count(3, 5)], 2);
    assert_eq!(verdict(&expected, &[count(1, 5), count(2, 5)]), Ok(()));
    assert!(verdict(&expected, &[count(2, 5), count(1, 5)]).is_err());
    assert!(verdict(&expected, &[count(1, 5), count(3, 5)]).is_err());
}

#[test]
fn a_candidate_at_the_threshold_may_be_left_out_of_a_top_list() {
    let candidates = vec![(row(1, 30.0), Required::Yes), (row(2, 25.0), Required::No)];
    let expected = Expected::Top(Top { candidates, limit: 10 });
    assert_eq!(verdict(&expected, &[row(1, 30.0)]), Ok(()));
    assert_eq!(verdict(&expected, &[row(1, 30.0), row(2, 25.0)]), Ok(()));
    assert!(verdict(&expected, &[row(2, 25.0)]).is_err());
}

#[test]
fn checksums_counts_and_kinds_are_compared() {
    let sum = |rows, sum| Checksum { rows, sum };
    let expected = Expected::Checksum(sum(2, 9));
    assert!(expected.check(&Answer::Checksum(sum(2, 9))).is_ok());
    assert!(expected.check(&Answer::Checksum(sum(1, 9))).is_err());
    assert!(expected.check(&Answer::Checksum(sum(2, 8))).is_err());
    assert!(expected.check(&Answer::Count(2)).is_err());
    assert!(Expected::Count(2).check(&Answer::Count(3)).is_err());
}

#[test]
fn a_correlation_is_compared_absolutely_and_an_unstable_one_not_at_all() {
    let one = |value| Expected::Set { rows: vec![vec![Value::Int(3), value]], optional: vec![] };
    let got = [vec![Value::Int(3), Value::Unit(1e-12)]];
    assert_eq!(verdict(&one(Value::Unit(0.0)), &got), Ok(()));
    assert!(verdict(&one(Value::Unit(1e-6)), &got).is_err());
    assert!(verdict(&one(Value::Null), &got).is_err());
    assert_eq!(verdict(&one(Value::Any), &got), Ok(()));
}

#[test]
fn parts_name_where_they_differ() {
    let expected = Expected::Parts(vec![("a", Expected::Count(1)), ("b", Expected::Count(2))]);
    let got = Answer::Parts(vec![("a", Answer::Count(1)), ("b", Answer::Count(3))]);
    assert_eq!(expected.check(&got).unwrap_err().0, "b: expected 2 rows, the engine counts 3");
}
