//! Computes correlations in plain code, and compares answers with them.

use std::collections::BTreeMap;

use embermark_data::table::compare;
use embermark_language::Correlate;
use embermark_model::answer::{Difference, TOLERANCE, Value as Answered};
use embermark_model::table::{OwnedValue, Value};

use super::super::table_rows::Rows;
use super::RowSet;
use super::statistics::{self, Correlation};

/// Compares an answer with the number of buckets that both groups have, and the correlation of
/// their means.
///
/// # Errors
/// Returns the difference.
pub(super) fn check(
    rows: &Rows,
    there: &RowSet,
    question: &Correlate,
    answer: &[Answered],
) -> Result<(), Difference> {
    let (buckets, correlation) = expected(rows, there, question);
    let [Answered::Int(found), coefficient] = answer else {
        return Err(Difference(format!("expected one row of two columns, got {answer:?}")));
    };
    if *found != buckets {
        return Err(Difference(format!("expected {buckets} buckets, got {found}")));
    }
    let same = match (&correlation, coefficient) {
        (Correlation::Undefined, found) => *found == Answered::Null,
        (Correlation::Unstable, _) => true,
        (Correlation::Coefficient(r), Answered::Float(found)) => (r - found).abs() <= TOLERANCE,
        (Correlation::Coefficient(_), _) => false,
    };
    if same {
        return Ok(());
    }
    Err(Difference(format!("expected {correlation:?} in {buckets} buckets, got {coefficient}")))
}

fn expected(rows: &Rows, there: &RowSet, question: &Correlate) -> (i64, Correlation) {
    let [a, b] = match &question.between {
        Some(two) => two.clone(),
        None => match busiest(rows, there, question.by) {
            Some(two) => two,
            None => return (0, Correlation::Undefined),
        },
    };
    let (a, b) = (means(rows, there, question, &a), means(rows, there, question, &b));
    let pairs: Vec<(f64, f64)> =
        a.iter().filter_map(|(bucket, x)| Some((*x, *b.get(bucket)?))).collect();
    (pairs.len() as i64, statistics::correlation(&pairs))
}

/// Returns the two values with the most rows, the least of equally frequent ones.
fn busiest(rows: &Rows, there: &RowSet, by: usize) -> Option<[OwnedValue; 2]> {
    let mut values: Vec<Value<'_>> = there
        .each()
        .map(|place| rows.value(place, by))
        .filter(|value| *value != Value::Null)
        .collect();
    values.sort_by(compare);
    let mut groups: Vec<&[Value<'_>]> = values.chunk_by(|a, b| compare(a, b).is_eq()).collect();
    // A stable sort keeps the least of equally frequent values first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    match groups[..] {
        [a, b, ..] => Some([a[0].to_owned(), b[0].to_owned()]),
        _ => None,
    }
}

fn means(
    rows: &Rows,
    there: &RowSet,
    question: &Correlate,
    group: &OwnedValue,
) -> BTreeMap<i64, f64> {
    let mut buckets: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for place in there.each() {
        let value = |column| rows.value(place, column);
        let number = match value(question.of) {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            _ => continue,
        };
        if let (true, Value::Int(time)) =
            (compare(&value(question.by), &group.as_value()).is_eq(), value(question.time))
        {
            buckets.entry(time.div_euclid(question.bucket)).or_default().push(number);
        }
    }
    let means = buckets.into_iter();
    means.filter_map(|(bucket, numbers)| Some((bucket, statistics::mean(&numbers)?))).collect()
}
