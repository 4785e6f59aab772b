//! Rows that meet conditions, and the newest of them.

use embermark_language::Operator;
use embermark_model::table::{Table, Value};

use super::values::{path, paths, value};
use crate::defined::{Filter, Question};

/// Returns a pipeline for some columns of the rows that meet the filters. `None` where bytes would be
/// compared.
pub fn matched(table: &Table, filters: &[Filter<'_>], wanted: &[usize]) -> Option<Question> {
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
pub fn latest(table: &Table, filters: &[Filter<'_>], by: usize, time: usize) -> Option<Question> {
    let (of, at) = (path(table, by), path(table, time));
    let own = first(table, filters)?;
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

/// Returns the stage that passes rows which meet all filters. `None` where bytes would be compared.
pub(super) fn matching(table: &Table, filters: &[Filter<'_>]) -> Option<Option<String>> {
    if filters.is_empty() {
        return Some(None);
    }
    let mut conditions: Vec<String> = Vec::new();
    conditions.extend(key_range(table, filters));
    for filter in filters {
        let condition = condition(filter.operator, &value(filter.bound)?);
        conditions.push(format!(r#"{{"{}": {condition}}}"#, path(table, filter.column)));
    }
    Some(Some(format!(r#"{{"$match": {{"$and": [{}]}}}}"#, conditions.join(", "))))
}

/// Returns the same stage before others, or nothing without filters.
pub(super) fn first(table: &Table, filters: &[Filter<'_>]) -> Option<String> {
    matching(table, filters).map(|stage| stage.map_or(String::new(), |stage| stage + ", "))
}

/// Returns a comparison with a bound.
pub(super) fn condition(operator: Operator, bound: &str) -> String {
    match operator {
        Operator::Equal => format!(r#"{{"$eq": {bound}}}"#),
        // An absent value is unequal too, but meets no condition.
        Operator::NotEqual => format!(r#"{{"$nin": [{bound}, null]}}"#),
        Operator::Less => format!(r#"{{"$lt": {bound}}}"#),
        Operator::AtMost => format!(r#"{{"$lte": {bound}}}"#),
        Operator::Greater => format!(r#"{{"$gt": {bound}}}"#),
        Operator::AtLeast => format!(r#"{{"$gte": {bound}}}"#),
    }
}

/// Returns the range of keys of the rows that meet the filters, as a condition. MongoDB only orders
/// whole keys, if they have several columns.
pub(super) fn key_range(table: &Table, filters: &[Filter<'_>]) -> Option<String> {
    if table.key.len() < 2 {
        return None;
    }
    let bound = |column: usize, is: &dyn Fn(Operator) -> bool| {
        filters.iter().find(|f| f.column == column && is(f.operator)).map(|f| f.bound)
    };
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let field = |column: usize, of: Value<'_>| {
        Some(format!(r#""{}": {}"#, table.columns[column].name, value(of)?))
    };
    for column in &table.key {
        if let Some(equal) = bound(*column, &|is| is == Operator::Equal) {
            from.push(field(*column, equal)?);
            to.push(field(*column, equal)?);
            continue;
        }
        let low = bound(*column, &|is| matches!(is, Operator::Greater | Operator::AtLeast));
        let high = bound(*column, &|is| matches!(is, Operator::Less | Operator::AtMost));
        from.extend(low.and_then(|low| field(*column, low)));
        to.extend(high.and_then(|high| field(*column, high)));
        break;
    }
    if to.len() < table.key.len() && !to.is_empty() {
        // Everything that follows in a key is below the greatest value.
        let next = &table.columns[table.key[to.len()]].name;
        to.push(format!(r#""{next}": {{"$maxKey": 1}}"#));
    }
    let mut ends = Vec::new();
    if !from.is_empty() {
        ends.push(format!(r#""$gte": {{{}}}"#, from.join(", ")));
    }
    if !to.is_empty() {
        ends.push(format!(r#""$lte": {{{}}}"#, to.join(", ")));
    }
    (!ends.is_empty()).then(|| format!(r#"{{"_id": {{{}}}}}"#, ends.join(", ")))
}
