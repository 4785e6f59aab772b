//! Results of queries whose columns are not known beforehand, and their first difference.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::answer::{Value, close, show};

/// The result of a query. Every row has the same number of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultSet {
    /// Number of columns per row. 0 if there are no rows.
    pub columns: usize,
    /// Whether the order of the rows is part of the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// Values, row after row.
    pub values: Vec<Value>,
}

/// The first difference of two results: the part of the first, and that of the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference(pub String, pub String);

/// A row.
type Row<'a> = &'a [Value];

impl ResultSet {
    /// Returns the rows.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// Converts every value as CSV does: an empty text becomes NULL, and a text that is a number
    /// becomes that number.
    pub fn read_as_csv(&mut self) {
        for value in &mut self.values {
            let Value::Text(text) = value else { continue };
            if text.is_empty() {
                *value = Value::Null;
            } else if let Ok(number) = text.parse() {
                *value = Value::Int(number);
            } else if let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite())
            {
                *value = Value::Float(number);
            }
        }
    }

    /// Returns the first difference from another result. Rows are compared in order if both are
    /// ordered, otherwise in any order. Floats are compared within
    /// [`TOLERANCE`](crate::answer::TOLERANCE), relative. Two integers and everything else are
    /// compared exactly.
    pub fn first_difference(&self, other: &Self) -> Option<FirstDifference> {
        let lacking = self.values.is_empty() || other.values.is_empty();
        if self.columns != other.columns && !lacking {
            let columns = |set: &Self| format!("{} columns", set.columns);
            return Some(FirstDifference(columns(self), columns(other)));
        }
        let (these, others): (Vec<Row<'_>>, Vec<Row<'_>>) =
            (self.rows().collect(), other.rows().collect());
        if self.ordered && other.ordered {
            return in_order(&these, &others);
        }
        in_any_order(these, others)
    }
}

fn in_order(these: &[Row<'_>], others: &[Row<'_>]) -> Option<FirstDifference> {
    let rows = these.len().max(others.len());
    let differs = |at: &usize| match (these.get(*at), others.get(*at)) {
        (Some(this), Some(other)) => !same_rows(this, other),
        _ => true,
    };
    let at = (0..rows).find(differs)?;
    let tell = |rows: &[Row<'_>]| match rows.get(at) {
        Some(row) => format!("row {} {}", at + 1, show(row)),
        None => format!("{} rows", rows.len()),
    };
    Some(FirstDifference(tell(these), tell(others)))
}

/// Sorts both by the columns without floats and then by the others, and pairs row by row. If floats
/// within tolerance are in another order, the row is looked for among similar ones.
fn in_any_order(mut these: Vec<Row<'_>>, mut others: Vec<Row<'_>>) -> Option<FirstDifference> {
    let columns = these.first().or(others.first()).map_or(0, |row| row.len());
    let is_exact = |column: &usize| {
        let mut rows = these.iter().chain(&others);
        rows.all(|row| !matches!(row[*column], Value::Float(_)))
    };
    let (exact, rough): (Vec<usize>, Vec<usize>) = (0..columns).partition(is_exact);
    let by = |columns: &[usize], a: Row<'_>, b: Row<'_>| {
        let each = columns.iter().map(|column| rank(&a[*column], &b[*column]));
        each.fold(Ordering::Equal, Ordering::then)
    };
    let order = |a: &Row<'_>, b: &Row<'_>| by(&exact, a, b).then_with(|| by(&rough, a, b));
    these.sort_by(order);
    others.sort_by(order);
    let alike = |a: Row<'_>, b: Row<'_>| {
        by(&exact, a, b).is_eq() && rough.first().is_some_and(|first| same(&a[*first], &b[*first]))
    };
    let none = || "no such row".to_owned();
    let as_many = these.len() == others.len();
    for at in 0..these.len().max(others.len()) {
        let (this, other) = match (these.get(at), others.get(at)) {
            (Some(this), Some(other)) => (*this, *other),
            (Some(this), None) => return Some(FirstDifference(show(this), none())),
            (None, Some(other)) => return Some(FirstDifference(none(), show(other))),
            (None, None) => return None,
        };
        if same_rows(this, other) {
            continue;
        }
        let like = (at + 1..others.len()).take_while(|later| alike(this, others[*later]));
        match like.into_iter().find(|later| same_rows(this, others[*later])) {
            Some(later) => others.swap(at, later),
            None => {
                return Some(match by(&exact, this, other) {
                    _ if as_many => FirstDifference(show(this), show(other)),
                    Ordering::Less => FirstDifference(show(this), none()),
                    Ordering::Greater => FirstDifference(none(), show(other)),
                    Ordering::Equal => FirstDifference(show(this), show(other)),
                });
            }
        }
    }
    None
}

fn same_rows(a: Row<'_>, b: Row<'_>) -> bool {
    a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn same(a: &Value, b: &Value) -> bool {
    match (number(a), number(b)) {
        (Some(_), Some(_)) if matches!((a, b), (Value::Int(_), Value::Int(_))) => a == b,
        (Some(a), Some(b)) => close(a, b),
        _ => a == b,
    }
}

fn rank(a: &Value, b: &Value) -> Ordering {
    let kind = |value: &Value| match value {
        Value::Null => 0,
        Value::Int(_) | Value::Float(_) => 1,
        Value::Text(_) => 2,
    };
    kind(a).cmp(&kind(b)).then_with(|| match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => Ordering::Equal,
        },
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Null | Value::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
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
        // Sorted only by their floats, each would come first in the other's order.
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
}
