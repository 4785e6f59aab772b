//! Outliers in plain code, compared with answers.

use std::collections::BTreeMap;

use embermark_model::answer::{Difference, TOLERANCE, Value as Answered};

use super::super::Rows;
use super::super::row::owned;
use super::RowSet;
use super::statistics::{mean_and_deviation, number};

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
        let Some(number) = number(rows.value(place, of)) else { continue };
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
