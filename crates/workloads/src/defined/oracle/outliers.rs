//! Computes values far from the mean of their group in plain code, and compares answers with them.

use std::collections::BTreeMap;

use embermark_model::answer::Answer;
use embermark_model::answer::{Difference, Expected, TOLERANCE, Value as Answered};
use embermark_model::table::Value;

use super::super::row::owned;
use super::super::table_rows::Rows;
use super::{RowSet, statistics};

/// Rows of a group: positions with values.
type Group = Vec<(usize, f64)>;

/// Compares an answer, in any order, with every existing row whose value is more than this many
/// deviations from the mean of its group. A value too close to the limit is optional: if all values
/// are equal, the deviation is only rounding.
///
/// # Errors
/// Returns the first difference.
pub(super) fn check(
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
    let (mut sure, mut optional) = (Vec::new(), Vec::new());
    for group in groups.into_values() {
        let numbers: Vec<f64> = group.iter().map(|(_, number)| *number).collect();
        let Some((mean, deviation)) = statistics::mean_and_deviation(&numbers) else { continue };
        for (place, number) in group {
            let beyond = (number - mean).abs() - deviations * deviation;
            let slack = TOLERANCE * number.abs().max(mean.abs());
            let columns = rows.table.key.iter().chain([&of]);
            let row = || columns.map(|column| owned(rows.value(place, *column))).collect();
            if beyond > slack {
                sure.push(row());
            } else if beyond >= -slack {
                optional.push(row());
            }
        }
    }
    let width = rows.table.key.len() + 1;
    let answer = answer.chunks(width).map(<[Answered]>::to_vec).collect();
    Expected::Set { rows: sure, optional }.check(&Answer::Rows(answer))
}
