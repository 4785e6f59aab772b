//! Values far from the mean of their group in plain code, and how an answer is compared with them.

use std::collections::BTreeMap;

use embermark_model::answer::Answer;
use embermark_model::answer::{Difference, Expected, TOLERANCE, Value as Answered};
use embermark_model::table::Value;

use super::super::row::owned;
use super::super::table_rows::Rows;
use super::{Places, statistics};

/// The rows of a group: places with their values.
type Group = Vec<(usize, f64)>;

/// Compares an answer, row after row in any order, with every row, of those that are there, whose
/// value is further than so many deviations from the mean of its group. One that is too close to say may be in it or
/// not: of values that are all the same the deviation is what rounding makes of it.
///
/// # Errors
/// The first difference.
pub(super) fn check(
    rows: &Rows,
    there: &Places,
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
