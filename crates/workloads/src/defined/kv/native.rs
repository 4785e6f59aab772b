//! What a store does by its own operations, as its keys and indexes allow.

use embermark_language::{Aggregate, Compute, Group, Query, Range, Removed, Span, Work};

use super::super::access::By;
use super::super::kind::rows_at_once;
use super::super::{Access, Cell, Filters, Rows, filters};

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
        Work::Ask { query: Query::Latest { .. }, .. } => newest_by_key(cell, phase),
        Work::Range(Range { span: Span::Rows { .. }, .. }) => true,
        Work::Range(_) | Work::Ask { query: Query::Find { .. }, .. } => {
            let access = Access::best(rows.table, &filters(cell, phase, 0));
            access.exact && (access.by == By::Key || keeps)
        }
        Work::Ask { query: Query::Group(group), .. } => {
            counts && counts_rows(group, rows, &filters(cell, phase, 0))
        }
        Work::Ask {
            query: Query::Gaps { .. } | Query::Outliers { .. } | Query::Correlate(_),
            ..
        }
        | Work::UpdateWhere { .. }
        | Work::Delete { .. }
        | Work::Sql(_)
        | Work::Mix(_)
        | Work::Sequence(_)
        | Work::Keep(_)
        | Work::Arrive(_) => false,
    }
}

/// Returns whether a question only asks for the number of all rows of a table. `filters` are its
/// conditions, and the one value that it can be about.
pub(super) fn counts_rows(group: &Group, Rows { table, .. }: &Rows, filters: &Filters<'_>) -> bool {
    let is_of_rows = |compute: &Compute| {
        let all_are_there = |column: usize| !table.columns[column].nullable;
        compute.aggregate == Aggregate::Count && compute.column.is_none_or(all_are_there)
    };
    let plain = filters.is_empty() && group.by.is_empty() && group.having.is_empty();
    plain && group.compute.iter().all(is_of_rows)
}

/// Returns whether the newest row of each value that a phase asks about is the last of the value's
/// rows in key order. It is not among the rows of one value of another column.
pub(super) fn newest_by_key(cell: &Cell, phase: usize) -> bool {
    let Some(&Query::Latest { by, time }) = cell.work(phase).query() else { return false };
    let is_of_all_rows = cell.each(phase, 0).is_none_or(|(column, _)| column == by);
    is_of_all_rows && cell.rows_of(phase).table.key.starts_with(&[by, time])
}

/// Returns whether the newest row of one value is searched from the end of the table, whose key
/// begins with the time.
pub(super) fn newest_from_end(cell: &Cell, phase: usize) -> bool {
    let Some(&Query::Latest { by, time }) = cell.work(phase).query() else { return false };
    let is_of_value = cell.each(phase, 0).is_some_and(|(column, _)| column == by);
    is_of_value && cell.rows_of(phase).table.key == [time, by]
}

#[cfg(test)]
mod tests {
    use embermark_model::Scale;

    use super::*;
    use crate::defined::keep;

    const FILE: &str = r#"
[table.readings]
rows = "60"
key = ["station", "moment"]
[table.readings.columns]
station = { type = "i32", make = "random", from = 0, to = 5 }
moment = { type = "timestamp", unit = "s", make = "sequence", step = "1m" }
kind = { type = "text", make = "choice", values = ["bolt", "nut"] }
[phase.newest]
do = "latest"
by = "station"
[phase.newest-each]
do = "latest"
by = "station"
each = "station"
ops = 2
[phase.newest-among]
do = "latest"
by = "station"
each = "kind"
ops = 2
[phase.counts]
do = "group"
[phase.counts-each]
do = "group"
each = "kind"
ops = 2
"#;

    #[test]
    fn questions_about_the_rows_of_one_value_are_not_answered_as_those_about_all_rows() {
        let dir = tempfile::tempdir().unwrap();
        let cell = keep::tests::cell(FILE, Scale::Full, dir.path()).unwrap();
        let names = cell.definition.phases.iter().map(|phase| &*phase.name).enumerate();
        let native = names.filter(|(phase, _)| is_native(&cell, *phase, true, true));
        let native: Vec<&str> = native.map(|(_, name)| name).collect();
        assert_eq!(native, ["newest", "newest-each", "counts"]);
    }
}
