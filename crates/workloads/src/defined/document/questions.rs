//! Questions in the language of a store.

use embermark_contract::document::Language;
use embermark_language::{Removed, Work};
use embermark_model::table::{Column, ColumnType};

use super::super::access::filters;
use super::super::cell::Cell;
use super::super::month;
use super::{harper_sql, pipeline};

/// A question in the store's language, and the names of the columns of its answer. Those of a
/// pipeline are their paths in the result's documents.
#[derive(Debug, PartialEq)]
pub(super) struct Question {
    pub text: String,
    pub columns: Vec<String>,
}

/// Returns whether a short search by key per value finds the newest documents faster than a
/// pipeline, which reads all documents: the key is one document, and no index knows its parts.
pub(super) fn seeks(cell: &Cell, phase: usize, language: Language) -> bool {
    let Work::Latest { by, time, .. } = cell.work(phase) else { return false };
    let rows = cell.rows_of(phase);
    matches!(language, Language::Pipeline) && rows.table.key == [*by, *time] && rows.has_few(*by)
}

/// Returns the columns that a phase needs of the rows that meet its conditions: those it selects, or
/// the key of rows that it changes.
pub(super) fn wanted(cell: &Cell, phase: usize) -> &[usize] {
    match cell.work(phase) {
        Work::Find { select, .. } => select,
        _ => &cell.rows_of(phase).table.key,
    }
}

/// Returns question `i` of a phase in the store's language, if it can be expressed.
pub(super) fn question(
    cell: &Cell,
    phase: usize,
    i: usize,
    language: Language,
) -> Option<Question> {
    let (rows, filters) = (cell.rows_of(phase), filters(cell, phase, i));
    let table = rows.table;
    match (cell.work(phase), language) {
        (Work::Latest { by, time, .. }, Language::Pipeline) => {
            pipeline::rows::latest(table, &filters, *by, *time)
        }
        (Work::Gaps { by, time, longer, .. }, Language::Pipeline) => {
            pipeline::statistics::gaps(table, &filters, (*by, *time), *longer)
        }
        (Work::Outliers { of, by, deviations, .. }, Language::Pipeline) => {
            pipeline::statistics::outliers(table, &filters, (*of, *by), *deviations)
        }
        (Work::Correlate(question), Language::Pipeline) => {
            pipeline::statistics::correlate(table, question, &times(cell, phase))
        }
        (
            Work::Find { .. }
            | Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. }, .. },
            Language::Pipeline,
        ) => pipeline::rows::matched(table, &filters, wanted(cell, phase)),
        (Work::Group(group), Language::Pipeline) => {
            pipeline::groups::group(table, group, &filters, &times(cell, phase))
        }
        (Work::Group(group), Language::Sql(dialect)) => {
            let text = harper_sql::group(dialect, table, group, &filters)?;
            let columns = group.by.len() + group.compute.len() + harper_sql::sums(group).count();
            Some(Question { text, columns: (0..columns).map(|n| format!("c{n}")).collect() })
        }
        _ => None,
    }
}

/// Returns the range of time of a phase's rows. If the file changes the rows, the years are
/// unknown.
pub(super) fn times(cell: &Cell, phase: usize) -> pipeline::values::Times {
    let (rows, table) = (cell.rows_of(phase), cell.work(phase).table());
    let sets = |work: &Work| match work {
        Work::Update { .. } | Work::UpdateWhere { .. } => work.table() == table,
        Work::Upsert { .. } | Work::ReadModifyWrite { .. } => work.table() == table,
        _ => false,
    };
    let early = rows.early();
    if cell.definition.phases.iter().any(|phase| sets(&phase.work)) {
        return pipeline::values::Times { early, years: Vec::new() };
    }
    let year = |(column, def): (usize, &Column)| {
        let ColumnType::Timestamp(unit) = def.of else { return None };
        let of = |time| month::year(time, unit);
        let (first, last) = (of(rows.start(column)), of(rows.end(column)));
        (first == last).then_some(first)
    };
    let years = rows.table.columns.iter().enumerate().map(year).collect();
    pipeline::values::Times { early, years }
}
