//! Questions in the language of a store.

use embermark_contract::document::Language;
use embermark_language::{Query, Removed, Work};
use embermark_model::table::{Column, ColumnType};

use super::super::kind::sets_by_key;
use super::super::{Cell, Op, Question, filters, month};
use super::harper_sql;
use super::pipeline::values::Times;
use super::pipeline::{rows, statistics};

/// Returns whether a short search by key per value finds the newest documents faster than a
/// pipeline, which reads all documents: the key is one document, and no index knows its parts.
pub(super) fn seeks(cell: &Cell, phase: usize, language: Language) -> bool {
    let Some(&Query::Latest { by, time }) = cell.work(phase).query() else { return false };
    let rows = cell.rows_of(phase);
    matches!(language, Language::Pipeline) && rows.table.key == [by, time] && rows.has_few(by)
}

/// Returns a question in the store's language, if it can be expressed. For rows that a phase changes
/// by conditions, it is about their keys.
pub(super) fn question(cell: &Cell, op: Op, language: Language) -> Option<Question> {
    let (phase, filters) = (op.phase, filters(cell, op.phase, op.i));
    let table = cell.tables[op.table].table;
    if let Language::Sql(dialect) = language {
        let Some(Query::Group(group)) = op.work.query() else { return None };
        let text = harper_sql::group(dialect, table, group, &filters)?;
        let columns = group.by.len() + group.compute.len() + harper_sql::sums(group).count();
        return Some(Question { text, columns: (0..columns).map(|n| format!("c{n}")).collect() });
    }
    if let Work::UpdateWhere { .. } | Work::Delete { removed: Removed::Where { .. }, .. } = op.work
    {
        return rows::matched(table, &filters, &table.key);
    }
    match op.work.query()? {
        &Query::Latest { by, time } => rows::latest(table, &filters, by, time),
        &Query::Gaps { by, time, longer } => statistics::gaps(table, &filters, (by, time), longer),
        &Query::Outliers { of, by, deviations } => {
            statistics::outliers(table, &filters, (of, by), deviations)
        }
        Query::Correlate(question) => statistics::correlate(table, question, &times(cell, phase)),
        Query::Find { select, .. } => rows::matched(table, &filters, select),
        Query::Group(group) => statistics::group(table, group, &filters, &times(cell, phase)),
    }
}

/// Returns the range of time of a phase's rows. If the file changes the rows, the years are
/// unknown.
pub(super) fn times(cell: &Cell, phase: usize) -> Times {
    let (rows, table) = (cell.rows_of(phase), cell.work(phase).table());
    let sets = |work: &Work| sets_by_key(work) || matches!(work, Work::UpdateWhere { .. });
    let mut works = cell.definition.phases.iter().map(|phase| &phase.work);
    let early = rows.early();
    if works.any(|work| sets(work) && work.table() == table) {
        return Times { early, years: Vec::new() };
    }
    let year = |(column, def): (usize, &Column)| {
        let ColumnType::Timestamp(unit) = def.of else { return None };
        let of = |time| month::year(time, unit);
        let (first, last) = rows.ends_of_all(column);
        let (first, last) = (of(first), of(last.max(rows.end(column))));
        (first == last).then_some(first)
    };
    let years = rows.table.columns.iter().enumerate().map(year).collect();
    Times { early, years }
}
