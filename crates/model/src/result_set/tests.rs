use super::*;

fn set(ordered: bool, rows: &[&[Value]]) -> ResultSet {
    let columns = rows.first().map_or(0, |row| row.len());
    ResultSet { columns, ordered, values: rows.concat() }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn differ(these: &[&[Value]], others: &[&[Value]], ordered: bool) -> Option<(String, String)> {
    let found = set(ordered, these).first_difference(&set(ordered, others));
    found.map(|FirstDifference(this, other)| (this, other))
}

use Value::{Float, Int, Null};

#[test]
fn rows_are_the_same_in_any_order_and_only_in_theirs_where_that_counts() {
    let (one, two) = ([Int(1), text("a")], [Int(2), text("b")]);
    assert_eq!(differ(&[&one, &two], &[&two, &one], false), None);
    let (this, other) = differ(&[&one, &two], &[&two, &one], true).unwrap();
    assert_eq!((&*this, &*other), ("row 1 (1, \"a\")", "row 1 (2, \"b\")"));
    assert_eq!(differ(&[&one, &two], &[&one, &two], true), None);
    let (this, other) = differ(&[&one, &two], &[&one], true).unwrap();
    assert_eq!((&*this, &*other), ("row 2 (2, \"b\")", "1 rows"));
}

#[test]
fn numbers_agree_across_kinds_within_tolerance_and_integers_exactly() {
    let same = |a: Value, b: Value| differ(&[&[a]], &[&[b]], false).is_none();
    assert!(same(Int(7), Float(7.0)) && same(Float(0.1 + 0.2), Float(0.3)));
    assert!(same(Float(7.0), Int(7)) && same(Null, Null) && same(text("x"), text("x")));
    assert!(!same(Int(1 << 60), Int((1 << 60) + 1)), "integers are compared exactly");
    assert!(!same(Int(3), Float(3.5)) && !same(Null, Int(0)) && !same(Null, text("")));
    assert!(!same(text("7"), Int(7)) && !same(text("a"), text("a ")));
}

#[test]
fn floats_within_tolerance_do_not_spoil_the_order() {
    // By their floats alone each would come first in another order.
    let (a, b) = (1.0, 1.0 + 1e-13);
    let these: [&[Value]; 2] = [&[Float(a), Float(5.0)], &[Float(b), Float(6.0)]];
    let others: [&[Value]; 2] = [&[Float(b), Float(5.0)], &[Float(a), Float(6.0)]];
    assert_eq!(differ(&these, &others, false), None);
    let wrong: [&[Value]; 2] = [&[Float(b), Float(5.0)], &[Float(a), Float(5.0)]];
    assert!(differ(&these, &wrong, false).is_some());
}

#[test]
fn a_row_that_is_missing_doubled_or_of_other_columns_is_told() {
    let (one, two): ([Value; 1], [Value; 1]) = ([Int(1)], [Int(2)]);
    let says = |these: &[&[Value]], others: &[&[Value]]| differ(these, others, false).unwrap();
    let told = |(this, other): (String, String)| format!("{this} / {other}");
    assert_eq!(told(says(&[&one, &two], &[&two])), "(1) / no such row");
    assert_eq!(told(says(&[&one], &[&one, &two])), "no such row / (2)");
    assert_eq!(told(says(&[&one, &two], &[&one, &one])), "(2) / (1)");
    assert_eq!(told(says(&[&one], &[&[Int(1), Int(2)]])), "1 columns / 2 columns");
    assert_eq!(told(says(&[], &[&one])), "no such row / (1)");
    let key: [&[Value]; 1] = [&[text("a"), Float(1.0)]];
    assert_eq!(told(says(&key, &[&[text("a"), Float(2.0)]])), "(\"a\", 1) / (\"a\", 2)");
    assert_eq!(differ(&[], &[], false), None);
}

#[test]
fn what_csv_says_is_compared_as_numbers_where_both_are() {
    let mut csv = set(false, &[&[text("7.0"), text(""), text("x"), text("-12"), text("nan")]]);
    csv.read_as_csv();
    assert_eq!(csv.values, [Float(7.0), Null, text("x"), Int(-12), text("nan")]);
}

#[test]
fn a_result_survives_being_written() {
    let before = set(true, &[&[Null, Int(i64::MIN), Float(4.0), Float(0.1), text("é\n")]]);
    let json = serde_json::to_string(&before).unwrap();
    assert_eq!(
        json,
        r#"{"columns":5,"ordered":true,"values":[null,-9223372036854775808,4.0,0.1,"é\n"]}"#
    );
    assert_eq!(serde_json::from_str::<ResultSet>(&json).unwrap(), before);
}
