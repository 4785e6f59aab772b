//! Gaps in plain code, compared with answers.

use std::collections::BTreeMap;

use embermark_model::answer::{Difference, Value as Answered};
use embermark_model::table::Value;

use super::super::Rows;
use super::super::row::owned;
use super::RowSet;
use super::groups::show;

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
