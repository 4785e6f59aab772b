//! Expected answers to questions about the existing rows, also where rows are in the order of time
//! and expire.

use std::collections::HashMap;
use std::ops::Range;

use embermark_data::table::compare;
use embermark_language::{Condition, Operator, Query, Span, Work};
use embermark_model::answer::{Difference, Value as Answered};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::{Cell, Found, Rows, fingerprint};
use super::correlation::check_correlation;
use super::gaps::check_gaps;
use super::outliers::check_outliers;
use super::{Oracle, Print, RowSet, check_rows, groups, values};

impl Oracle {
    pub(super) fn answered(
        &self,
        phase: usize,
        (there, asked): (&RowSet, u64),
        found: &Found,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let (cell, of) = (&*self.cell, self.cell.rows_of(phase));
        let Some(query) = cell.work(phase).query() else { return Ok(()) };
        if !cell.adds_up(phase) {
            return check_answer(of, there, query, (found, &found.result), print);
        }
        // Each question is about other ones of the existing rows.
        if let &Query::Latest { by, time } = query {
            let newest = (0..asked as usize)
                .map(|i| latest(of, &of_question(cell, phase, i, there), (by, time), print));
            return check_rows(newest.collect(), found);
        }
        let mut from = 0;
        for i in 0..asked as usize {
            let Some(to) = found.ends.get(i).copied() else {
                return Err(Difference(format!("there are answers to {i} of {asked} questions")));
            };
            let value = cell.each(phase, i).map(|(_, value)| value);
            let there = of_question(cell, phase, i, there);
            check_answer(of, &there, query, (found, &found.result[from..to]), print)
                .map_err(|Difference(what)| Difference(format!("of {value:?}: {what}")))?;
            from = to;
        }
        Ok(())
    }
}

/// Checks the answer to a question about these rows: the rows found, or this part of the result.
fn check_answer(
    of: &Rows,
    there: &RowSet,
    query: &Query,
    (found, result): (&Found, &[Answered]),
    print: &Print<'_>,
) -> Result<(), Difference> {
    match query {
        &Query::Latest { by, time } => check_rows(latest(of, there, (by, time), print), found),
        Query::Find { conditions, .. } => {
            let is_met = groups::met(of, conditions);
            let met = there.each().filter(|place| is_met(*place));
            check_rows(met.map(|place| print(&values(of, place))).collect(), found)
        }
        &Query::Gaps { by, time, longer } => check_gaps(of, there, (by, time), longer, result),
        &Query::Outliers { of: column, by, deviations } => {
            check_outliers(of, there, (column, by), deviations, result)
        }
        Query::Correlate(question) => check_correlation(of, there, question, result),
        Query::Group(group) => groups::check(group, groups::all(of, there, group), result),
    }
}

/// Returns those of the existing rows that question `i` of a phase is about.
fn of_question(cell: &Cell, phase: usize, i: usize, there: &RowSet) -> RowSet {
    let rows = cell.rows_of(phase);
    let mut marks = vec![false; rows.staged.rows()];
    for place in there.each() {
        marks[place] = cell
            .each(phase, i)
            .is_none_or(|(column, value)| compare(&rows.value(place, column), &value).is_eq());
    }
    RowSet::Marked(marks)
}

/// Returns the newest rows of each value of a column, and all of them if several have the same
/// time.
pub(super) fn latest(
    rows: &Rows,
    there: &RowSet,
    (by, time): (usize, usize),
    print: &Print<'_>,
) -> Checksum {
    let mut newest: HashMap<u64, (i64, Checksum)> = HashMap::new();
    for place in there.each() {
        let (of, Value::Int(at)) = (rows.value(place, by), rows.value(place, time)) else {
            continue;
        };
        if of == Value::Null {
            continue;
        }
        let newest =
            newest.entry(fingerprint([of]).bits()).or_insert((i64::MIN, Checksum::default()));
        if at > newest.0 {
            *newest = (at, Checksum::default());
        }
        if at == newest.0 {
            newest.1 += print(&values(rows, place));
        }
    }
    newest.into_values().map(|(_, rows)| rows).collect()
}

/// Compares what question `i` of a phase found with what it must find in these rows.
///
/// # Errors
/// Returns the first difference.
pub fn check(
    cell: &Cell,
    (phase, i): (usize, usize),
    there: Range<usize>,
    found: &Found,
    print: &Print<'_>,
) -> Result<(), Difference> {
    let rows = cell.rows_of(phase);
    let is_of = |place: &usize| {
        cell.each(phase, i).is_none_or(|(column, value)| rows.value(*place, column) == value)
    };
    let same = |expected: Checksum| check_rows(expected, found);
    let is_by = |by: usize| cell.each(phase, i).is_some_and(|(column, _)| column == by);
    match cell.work(phase) {
        &Work::Ask { query: Query::Latest { by, time }, .. } if is_by(by) => {
            // From the newest row back to the first of another time.
            let mut newest = there.rev().filter(|place| is_of(place)).peekable();
            let at = newest.peek().map(|place| rows.value(*place, time));
            let newest = newest.take_while(|place| Some(rows.value(*place, time)) == at);
            same(newest.map(|place| print(&values(rows, place))).collect())
        }
        &Work::Range(embermark_language::Range {
            span: Span::Last { of, time, units }, ..
        }) => {
            let from = Value::Int(rows.end(time) - units + 1);
            let value = cell.range_value(phase, i);
            let places = since(rows, there, time, from);
            // An absent value equals nothing.
            let is_met = |place: &usize| {
                value != Some(Value::Null) && of.map(|of| rows.value(*place, of)) == value
            };
            let met = places.filter(is_met);
            same(met.map(|place| print(&values(rows, place))).collect())
        }
        Work::Ask { query, .. } => {
            let places = bounded(rows, there, query.conditions()).filter(is_of);
            let there = RowSet::These(places.collect());
            check_answer(rows, &there, query, (found, &found.result), print)
        }
        // A file with another question is refused.
        _ => Err(Difference("no oracle knows the answer".to_owned())),
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
