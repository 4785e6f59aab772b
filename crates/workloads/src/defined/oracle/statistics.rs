//! Gaps, outliers and correlations in plain code, compared with answers. Sums and moments are
//! compensated, so that the rounding of the oracle is far below the tolerance.

use std::collections::BTreeMap;

use embermark_data::table::compare;
use embermark_language::Correlate;
use embermark_model::answer::{Difference, TOLERANCE, Value as Answered};
use embermark_model::table::{OwnedValue, Value};

use super::super::Rows;
use super::super::row::owned;
use super::RowSet;
use super::groups::show;

/// A sum with Neumaier's compensation (A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur
/// Summation endlicher Summen, 1974).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost +=
            if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }
}

/// Returns the sum of numbers.
pub(super) fn sum(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    numbers.into_iter().for_each(|x| sum.add(x));
    sum.sum + sum.lost
}

/// Returns the mean of numbers, or `None` without any.
pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| sum(numbers.iter().copied()) / numbers.len() as f64)
}

/// Returns the mean and the sample standard deviation, or `None` for fewer than two numbers.
pub(super) fn mean_and_deviation(numbers: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(numbers).filter(|_| numbers.len() >= 2)?;
    let squares = sum(numbers.iter().map(|x| (x - mean) * (x - mean)));
    Some((mean, (squares / (numbers.len() - 1) as f64).sqrt()))
}

/// A correlation of two series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correlation {
    /// Fewer than two pairs.
    Undefined,
    /// One of the series does not vary by more than its own rounding.
    Unstable,
    /// Pearson's coefficient.
    Coefficient(f64),
}

/// Relative deviation below which the rounded means are too imprecise for a coefficient right to
/// nine digits: 1e-16 of rounding over 1e-6 leaves 1e-10.
const NOISE: f64 = 1e-6;

/// Returns Pearson's correlation of pairs, from centred sums.
pub(super) fn correlation(pairs: &[(f64, f64)]) -> Correlation {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (Some((x_mean, x_deviation)), Some((y_mean, y_deviation))) =
        (mean_and_deviation(&x), mean_and_deviation(&y))
    else {
        return Correlation::Undefined;
    };
    if x_deviation <= NOISE * x_mean.abs() || y_deviation <= NOISE * y_mean.abs() {
        return Correlation::Unstable;
    }
    let products = sum(pairs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)));
    let scale = (pairs.len() - 1) as f64 * x_deviation * y_deviation;
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
    means.filter_map(|(bucket, numbers)| Some((bucket, mean(&numbers)?))).collect()
}

/// Compares an answer, in any order, with every gap of more than `longer` between two times of one
/// value.
///
/// # Errors
/// Returns the first difference.
pub(super) fn check_gaps(
    rows: &Rows,
    there: &RowSet,
    (by, time): (usize, usize),
    longer: i64,
    answer: &[Answered],
) -> Result<(), Difference> {
    let mut times: BTreeMap<String, (Answered, Vec<i64>)> = BTreeMap::new();
    for place in there.each() {
        let (of, at) = (rows.value(place, by), rows.value(place, time));
        if let (false, Value::Int(at)) = (of == Value::Null, at) {
            let of = owned(of);
            times.entry(of.to_string()).or_insert_with(|| (of, Vec::new())).1.push(at);
        }
    }
    // Each with its count: several rows of one time have one gap.
    let mut left: BTreeMap<String, i64> = BTreeMap::new();
    for (of, times) in times.values_mut() {
        times.sort_unstable();
        for pair in times.windows(2).filter(|pair| pair[1].saturating_sub(pair[0]) > longer) {
            let gap = [of.clone(), Answered::Int(pair[0]), Answered::Int(pair[1])];
            *left.entry(show(&gap)).or_default() += 1;
        }
    }
    for got in answer.chunks(3) {
        match left.get_mut(&show(got)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(Difference(format!("gap {} should not be in the answer", show(got)))),
        }
    }
    match left.iter().find(|(_, count)| **count > 0) {
        Some((gap, _)) => Err(Difference(format!("gap {gap} is missing"))),
        None => Ok(()),
    }
}

/// Rows of a group: positions with values.
type Group = Vec<(usize, f64)>;

/// Compares an answer, in any order, with every existing row whose value is more than this many
/// deviations from the mean of its group. A value too close to the limit is optional: if all values
/// are equal, the deviation is only rounding.
///
/// # Errors
/// Returns the first difference.
pub(super) fn check_outliers(
    rows: &Rows,
    there: &RowSet,
    (of, by): (usize, usize),
    deviations: f64,
    answer: &[Answered],
) -> Result<(), Difference> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for place in there.each() {
        let number = match rows.value(place, of) {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            _ => continue,
        };
        match owned(rows.value(place, by)) {
            Answered::Null => {}
            group => groups.entry(group.to_string()).or_default().push((place, number)),
        }
    }
    // By key, each value and whether it must be in the answer.
    let mut left: BTreeMap<String, Vec<(Answered, bool)>> = BTreeMap::new();
    let keys = rows.table.key.len();
    for group in groups.into_values() {
        let numbers: Vec<f64> = group.iter().map(|(_, number)| *number).collect();
        let Some((mean, deviation)) = mean_and_deviation(&numbers) else { continue };
        for (place, number) in group {
            let beyond = (number - mean).abs() - deviations * deviation;
            let slack = TOLERANCE * number.abs().max(mean.abs());
            if beyond < -slack {
                continue;
            }
            let key: Vec<Answered> =
                rows.table.key.iter().map(|column| owned(rows.value(place, *column))).collect();
            let row = (owned(rows.value(place, of)), beyond > slack);
            left.entry(show_exactly(&key)).or_default().push(row);
        }
    }
    for got in answer.chunks(keys + 1) {
        let (key, value) = (show_exactly(&got[..keys]), &got[keys]);
        let rows = left.get_mut(&key).filter(|rows| !rows.is_empty());
        let Some(rows) = rows else {
            return Err(Difference(format!(
                "row {} should not be in the answer",
                show_exactly(got)
            )));
        };
        let Some(at) = rows.iter().position(|(expected, _)| expected.agrees(value)) else {
            let expected = &rows[0].0;
            return Err(Difference(format!(
                "row {} should have the value {expected}",
                show_exactly(got)
            )));
        };
        rows.swap_remove(at);
    }
    match left.iter().find(|(_, rows)| rows.iter().any(|(_, is_sure)| *is_sure)) {
        Some((key, _)) => Err(Difference(format!("the row with the key {key} is missing"))),
        None => Ok(()),
    }
}

/// Shows values exactly, a zero without its sign.
fn show_exactly(row: &[Answered]) -> String {
    let one = |value: &Answered| match value {
        Answered::Float(value) => (value + 0.0).to_string(),
        value => value.to_string(),
    };
    format!("({})", row.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_keeps_what_naive_addition_loses() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[122.153; 1_000]), Some(122.153));
    }

    #[test]
    fn the_deviation_is_the_sample_one() {
        // Squares of distances 9+1+1+1+0+0+4+16 = 32 over 7.
        let (mean, deviation) =
            mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((mean, deviation), (5.0, (32.0_f64 / 7.0).sqrt()));
        assert_eq!(mean_and_deviation(&[5.0]), None);
    }

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
    }
}
