//! What a store does by its own operations, as its keys and indexes allow.

use embermark_language::{Aggregate, Compute, Group, Range, Removed, Span, Work};

use super::super::access::By;
use super::super::kind::rows_at_once;
use super::super::{Access, Cell, Rows, filters};

/// Returns whether a store does the work of a phase by its own operations. `keeps` is whether it
/// keeps the indexes of the table, and `counts` whether it knows the number of pairs.
pub(super) fn is_native(cell: &Cell, phase: usize, keeps: bool, counts: bool) -> bool {
    let rows = cell.rows_of(phase);
    match cell.work(phase) {
        work if rows_at_once(work) > 1 => false,
        Work::Get { .. } | Work::Open { .. } => true,
        Work::Insert { .. }
        | Work::Update { .. }
        | Work::Upsert { .. }
        | Work::ReadModifyWrite { .. }
        | Work::Delete { removed: Removed::Keys { .. }, .. } => keeps,
        Work::Latest { by, time, .. } => newest_by_key(rows, *by, *time),
        Work::Range(Range { span: Span::Rows { .. }, .. }) => true,
        Work::Range(_) | Work::Find { .. } => {
            let access = Access::best(rows.table, &filters(cell, phase, 0));
            access.exact && (access.by == By::Key || keeps)
        }
        Work::Group(group) => counts && counts_rows(group, rows),
        Work::Gaps { .. }
        | Work::Outliers { .. }
        | Work::Correlate(_)
        | Work::UpdateWhere { .. }
        | Work::Delete { .. }
        | Work::Sql(_)
        | Work::Mix(_)
        | Work::Sequence(_)
        | Work::Keep(_)
        | Work::Arrive(_) => false,
    }
}

/// Returns whether a question only asks for the number of rows of a table.
pub(super) fn counts_rows(group: &Group, Rows { table, .. }: &Rows) -> bool {
    let is_of_rows = |compute: &Compute| {
        let all_are_there = |column: usize| !table.columns[column].nullable;
        compute.aggregate == Aggregate::Count && compute.column.is_none_or(all_are_there)
    };
    let plain = group.conditions.is_empty() && group.by.is_empty() && group.having.is_empty();
    plain && group.compute.iter().all(is_of_rows)
}

/// Returns whether the newest row of each value of a column is the last of its rows in key order.
pub(super) fn newest_by_key(rows: &Rows, by: usize, time: usize) -> bool {
    rows.table.key.starts_with(&[by, time])
}

/// Returns whether the newest row of one value is searched from the end of the table, whose key
/// begins with the time.
pub(super) fn newest_from_end(cell: &Cell, phase: usize) -> bool {
    let Work::Latest { by, time, .. } = cell.work(phase) else { return false };
    let is_of_value = cell.each(phase, 0).is_some_and(|(column, _)| column == *by);
    is_of_value && cell.rows_of(phase).table.key == [*time, *by]
}
