//! Correlations in plain code, compared with answers.

use std::collections::BTreeMap;

use embermark_data::table::compare;
use embermark_language::Correlate;
use embermark_model::answer::{Difference, TOLERANCE, Value as Answered};
use embermark_model::table::{OwnedValue, Value};

use super::super::Rows;
use super::RowSet;
use super::statistics::{mean, mean_and_deviation, number, sum};

/// A correlation of two series.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Correlation {
    /// Fewer than two pairs.
    Undefined,
    /// One of the series does not vary by more than its own rounding, or its squares are beyond the
    /// range of floats.
    Unstable,
    /// Pearson's coefficient.
    Coefficient(f64),
}

/// Relative deviation below which the rounded means are too imprecise for a coefficient right to
/// nine digits: 1e-16 of rounding over 1e-6 leaves 1e-10.
const NOISE: f64 = 1e-6;

/// Returns Pearson's correlation of pairs, from centred sums.
fn correlation(pairs: &[(f64, f64)]) -> Correlation {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (Some((x_mean, x_deviation)), Some((y_mean, y_deviation))) =
        (mean_and_deviation(&x), mean_and_deviation(&y))
    else {
        return Correlation::Undefined;
    };
    if x_deviation <= NOISE * x_mean.abs() || y_deviation <= NOISE * y_mean.abs() {
        return Correlation::Unstable;
    }
    let scale = (pairs.len() - 1) as f64 * x_deviation * y_deviation;
    if !scale.is_normal() {
        return Correlation::Unstable;
    }
    let products = sum(pairs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)));
    Correlation::Coefficient(products / scale)
}

/// Compares an answer with the number of buckets that both groups have, and the correlation of
/// their means.
///
/// # Errors
/// Returns the difference.
pub(super) fn check_correlation(
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
    (pairs.len() as i64, correlation(&pairs))
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
        let Some(number) = number(value(question.of)) else { continue };
        if let (true, Value::Int(time)) =
            (compare(&value(question.by), &group.as_value()).is_eq(), value(question.time))
        {
            buckets.entry(time.div_euclid(question.bucket)).or_default().push(number);
        }
    }
    let means = buckets.into_iter();
    means.filter_map(|(bucket, numbers)| Some((bucket, mean(&numbers)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correlation_needs_two_pairs_and_variance() {
        let Correlation::Coefficient(r) =
            correlation(&[(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0)])
        else {
            panic!("no coefficient");
        };
        // Centred products 0.75 + 0.75 + 0.75 + 0.75 = 3 over squares 5.
        assert!((r - 0.6).abs() < 1e-15, "{r}");
        assert_eq!(correlation(&[(1.0, 2.0)]), Correlation::Undefined);
        let stuck = [(122.153, 1.0), (122.153 + 1e-13, 2.0), (122.153, 3.0)];
        assert_eq!(correlation(&stuck), Correlation::Unstable);
        assert_eq!(correlation(&[(0.0, 1.0), (0.0, 2.0)]), Correlation::Unstable);
        for beyond in [1e200, 1e308, 1e-170] {
            let pairs = [(beyond, beyond), (-beyond, 0.0), (beyond, -beyond)];
            assert_eq!(correlation(&pairs), Correlation::Unstable, "{beyond}");
        }
    }
}
