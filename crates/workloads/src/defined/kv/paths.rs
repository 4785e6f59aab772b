//! Which questions are answered without reading every row.

use embermark_language::{Aggregate, Compute, Group, Work};

use super::super::cell::Cell;
use super::super::table_rows::Rows;

/// Returns whether a question only asks for the number of rows of a table.
pub(in super::super) fn counts_rows(group: &Group, table: &embermark_model::table::Table) -> bool {
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
