//! Expected answers to questions about the existing rows.

use std::collections::HashMap;

use embermark_data::table::compare;
use embermark_language::Work;
use embermark_model::answer::{Difference, Value as Answered};
use embermark_model::fingerprint::Checksum;
use embermark_model::table::Value;

use super::super::cell::Cell;
use super::super::port::{OperationResults, fingerprint};
use super::super::table_rows::Rows;
use super::row_set::RowSet;
use super::{Oracle, Print, check_rows, correlate, gaps, groups, outliers, values};

impl Oracle {
    pub(super) fn answered(
        &self,
        phase: usize,
        (there, asked): (&RowSet, u64),
        found: &OperationResults,
        print: &Print<'_>,
    ) -> Result<(), Difference> {
        let (cell, of) = (&*self.cell, self.cell.rows_of(phase));
        let each = |check: &Check<'_>| each(cell, phase, (there, asked), found, check);
        let rows = |expected: Checksum| check_rows(expected, found);
        match self.cell.work(phase) {
            Work::Latest { by, time, .. } if cell.adds_up(phase) => {
                let newest = (0..asked as usize)
                    .map(|i| latest(of, &of_question(cell, phase, i, there), (*by, *time), print));
                rows(newest.collect())
            }
            Work::Latest { by, time, .. } => rows(latest(of, there, (*by, *time), print)),
            Work::Find { conditions, .. } => {
                let is_met = groups::met(of, conditions);
                let met = there.each().filter(|place| is_met(*place));
                rows(met.map(|place| print(&values(of, place))).collect())
            }
            Work::Gaps { by, time, longer, .. } => {
                each(&|there, found| gaps::check(of, there, (*by, *time), *longer, found))
            }
            Work::Outliers { of: column, by, deviations, .. } => {
                each(&|there, found| outliers::check(of, there, (*column, *by), *deviations, found))
            }
            Work::Correlate(question) => correlate::check(of, there, question, &found.result),
            Work::Group(group) => {
                each(&|there, found| groups::check(group, groups::all(of, there, group), found))
            }
            _ => Ok(()),
        }
    }
}

/// Checks the answer to a question about these rows.
type Check<'a> = dyn Fn(&RowSet, &[Answered]) -> Result<(), Difference> + 'a;

/// Checks the answer of each question of a phase. Each is about other ones of the existing rows.
pub(super) fn each(
    cell: &Cell,
    phase: usize,
    (there, asked): (&RowSet, u64),
    found: &OperationResults,
    check: &Check<'_>,
) -> Result<(), Difference> {
    if !cell.adds_up(phase) {
        return check(there, &found.result);
    }
    let mut from = 0;
    for i in 0..asked as usize {
        let Some(to) = found.ends.get(i).copied() else {
            return Err(Difference(format!("there are answers to {i} of {asked} questions")));
        };
        let of = cell.each(phase, i).map(|(_, value)| value);
        check(&of_question(cell, phase, i, there), &found.result[from..to])
            .map_err(|Difference(what)| Difference(format!("of {of:?}: {what}")))?;
        from = to;
    }
    Ok(())
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
