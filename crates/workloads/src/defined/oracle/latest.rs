//! Expected answers about the newest rows, where rows are in the order of time and expire.

use std::ops::Range;

use embermark_data::table::compare;
use embermark_language::{Condition, Operator, Range as RangeOf, Span, Work};
use embermark_model::answer::Difference;
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::cell::Cell;
use super::super::port::OperationResults;
use super::super::table_rows::Rows;
use super::questions::latest;
use super::{Print, RowSet, check_rows, groups, values};

/// Compares what question `i` of a phase found with what it must find in these rows.
///
/// # Errors
/// Returns the first difference.
pub(in super::super) fn check(
    cell: &Cell,
    (phase, i): (usize, usize),
    there: Range<usize>,
    found: &OperationResults,
    print: &Print<'_>,
) -> Result<(), Difference> {
    let rows = cell.rows_of(phase);
    let is_of = |place: &usize| {
        cell.each(phase, i).is_none_or(|(column, value)| rows.value(*place, column) == value)
    };
    let same = |expected: Checksum| check_rows(expected, found);
    let own =
        |places: Range<usize>| -> Vec<usize> { places.filter(|place| is_of(place)).collect() };
    match cell.work(phase) {
        Work::Latest { by, time, .. } => {
            if cell.each(phase, i).is_none_or(|(column, _)| column != *by) {
                return same(latest(rows, &RowSet::These(own(there)), (*by, *time), print));
            }
            // From the newest row back to the first of another time.
            let mut newest = there.rev().filter(|place| is_of(place)).peekable();
            let at = newest.peek().map(|place| rows.value(*place, *time));
            let newest = newest.take_while(|place| Some(rows.value(*place, *time)) == at);
            same(newest.map(|place| print(&values(rows, place))).collect())
        }
        Work::Range(RangeOf { span: Span::Last { of, time, units }, .. }) => {
            let from = Value::Int(rows.end(*time) - units + 1);
            let value = cell.range_value(phase, i);
            let places = since(rows, there, *time, from);
            // An absent value equals nothing.
            let is_met = |place: &usize| {
                value != Some(Value::Null) && of.map(|of| rows.value(*place, of)) == value
            };
            let met = places.filter(is_met);
            same(met.map(|place| print(&values(rows, place))).collect())
        }
        Work::Find { conditions, .. } => {
            let places = bounded(rows, there, conditions);
            let is_met = groups::met(rows, conditions);
            let met = places.filter(|place| is_met(*place));
            same(met.map(|place| print(&values(rows, place))).collect())
        }
        Work::Group(group) => {
            let places = RowSet::These(own(bounded(rows, there, &group.conditions)));
            groups::check(group, groups::all(rows, &places, group), &found.result)
        }
        _ => Ok(()),
    }
}

/// Returns the rows at or after a time, where rows are in the order of time.
fn since(rows: &Rows, there: Range<usize>, time: usize, from: Value<'_>) -> Range<usize> {
    let is_before = |place: usize| compare(&rows.value(place, time), &from).is_lt();
    let (mut first, mut end) = (there.start, there.end);
    while first < end {
        let middle = first + (end - first) / 2;
        if is_before(middle) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    first..there.end
}

/// Returns the rows above a lower bound of time, if the conditions have one.
fn bounded(rows: &Rows, there: Range<usize>, conditions: &[Condition]) -> Range<usize> {
    let time = rows.repetition.map(|repetition| repetition.time);
    let low = conditions.iter().find(|of| {
        Some(of.column) == time && matches!(of.operator, Operator::Greater | Operator::AtLeast)
    });
    match (time, low) {
        (Some(time), Some(low)) => since(rows, there, time, rows.bound(low)),
        _ => there,
    }
}
