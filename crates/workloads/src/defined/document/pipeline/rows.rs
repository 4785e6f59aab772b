//! Rows that meet conditions, and the newest of them.

use embermark_language::Operator;
use embermark_model::table::Table;

use super::super::questions::Question;
use super::conditions::matching;
use super::paths::{path, paths};
use crate::defined::access::Filter;

/// Returns a pipeline for some columns of the rows that meet the filters. `None` where bytes would be
/// compared.
pub(in super::super) fn matched(
    table: &Table,
    filters: &[Filter<'_>],
    wanted: &[usize],
) -> Option<Question> {
    let own = matching(table, filters)?;
    let columns: Vec<String> = wanted.iter().map(|column| path(table, *column)).collect();
    let selects = wanted.len() < table.columns.len();
    let project = selects.then(|| {
        let is_key = |column: &usize| table.key.contains(column);
        let id = format!(r#""_id": {}"#, u8::from(wanted.iter().any(is_key)));
        let others = wanted.iter().filter(|column| !is_key(column));
        let others = others.map(|column| format!(r#""{}": 1"#, path(table, *column)));
        let all: Vec<String> = std::iter::once(id).chain(others).collect();
        format!(r#"{{"$project": {{{}}}}}"#, all.join(", "))
    });
    let stages: Vec<String> = own.into_iter().chain(project).collect();
    Some(Question { text: format!("[{}]", stages.join(", ")), columns })
}

/// Returns a pipeline for the newest rows of each value of a column, among those that meet the
/// filters.
pub(in super::super) fn latest(
    table: &Table,
    filters: &[Filter<'_>],
    by: usize,
    time: usize,
) -> Option<Question> {
    let (of, at) = (path(table, by), path(table, time));
    let own = matching(table, filters)?.map_or(String::new(), |stage| stage + ", ");
    let is_key = table.key.len() == 2 && table.key.contains(&by) && table.key.contains(&time);
    let is_one = filters.iter().any(|of| of.column == by && of.operator == Operator::Equal);
    let text = if is_key && is_one && table.key == [time, by] {
        format!(r#"[{own}{{"$sort": {{"_id": -1}}}}, {{"$limit": 1}}]"#)
    } else if is_key {
        // A value has one row per time. Documents are compared by their first field.
        format!(
            r#"[{own}{{"$group": {{"_id": "${of}", "newest": {{"$max": {{"at": "${at}", "row": "$$ROOT"}}}}}}}},
            {{"$replaceRoot": {{"newRoot": "$newest.row"}}}}]"#
        )
    } else {
        format!(
            r#"[{own}{{"$match": {{"$and": [{{"{of}": {{"$ne": null}}}}, {{"{at}": {{"$ne": null}}}}]}}}},
            {{"$setWindowFields": {{"partitionBy": "${of}", "sortBy": {{"{at}": -1}},
                "output": {{"rank in time": {{"$rank": {{}}}}}}}}}},
            {{"$match": {{"rank in time": 1}}}}]"#
        )
    };
    Some(Question { text, columns: paths(table) })
}
