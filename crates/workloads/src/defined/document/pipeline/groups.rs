//! Groups of rows.

use embermark_language::{Aggregate, Compute, Group, Grouped};
use embermark_model::table::{ColumnType, Table};

use super::super::questions::Question;
use super::conditions::{condition, matching};
use super::paths::read;
use super::values::{Times, grouped, numbered, value};
use crate::defined::access::Filter;

/// Returns a pipeline for the groups of the rows that meet the filters. `None` where MongoDB's
/// answer would differ: it orders bytes by their length first.
pub(in super::super) fn group(
    table: &Table,
    group: &Group,
    filters: &[Filter<'_>],
    times: &Times,
) -> Option<Question> {
    let sorts_bytes = group.order.iter().any(|order| match group.by.get(order.column) {
        Some(Grouped::Column(column)) => table.columns[*column].of == ColumnType::Bytes,
        _ => false,
    });
    // Without rows it returns no group, and so none that could meet a condition.
    if sorts_bytes || (group.by.is_empty() && !group.having.is_empty()) {
        return None;
    }
    let mut stages = Vec::new();
    stages.extend(matching(table, filters)?);
    let by: Vec<String> = group.by.iter().map(|by| grouped(table, *by, times)).collect();
    let (id, mut columns): (String, Vec<String>) = match &by[..] {
        [] => ("null".to_owned(), Vec::new()),
        [only] => (only.clone(), vec!["_id".to_owned()]),
        several => {
            let named = several.iter().enumerate().map(|(n, by)| format!(r#""g{n}": {by}"#));
            let columns = (0..several.len()).map(|n| format!("_id.g{n}")).collect();
            (format!("{{{}}}", named.collect::<Vec<_>>().join(", ")), columns)
        }
    };
    let (mut fields, mut sums) = (vec![format!(r#""_id": {id}"#)], Vec::new());
    for (n, compute) in group.compute.iter().enumerate() {
        let (field, sum) = computed(table, n, compute);
        fields.push(field);
        sums.extend(sum);
        columns.push(format!("c{n}"));
    }
    stages.push(format!(r#"{{"$group": {{{}}}}}"#, fields.join(", ")));
    let months = group.by.iter().zip(&columns).filter_map(|(by, place)| {
        let Grouped::Month { column, .. } = by else { return None };
        Some(format!(r#""{place}": {}"#, numbered(place, times.year(*column))))
    });
    let months: Vec<String> = months.collect();
    for set in [months, sums].iter().filter(|set| !set.is_empty()) {
        stages.push(format!(r#"{{"$set": {{{}}}}}"#, set.join(", ")));
    }
    for having in &group.having {
        let (column, bound) = (&columns[group.by.len() + having.compute], having.bound.as_value());
        let condition = condition(having.operator, &value(bound)?);
        stages.push(format!(r#"{{"$match": {{"{column}": {condition}}}}}"#));
    }
    let sort = group.order.iter().map(|order| {
        let way = if order.descending { -1 } else { 1 };
        format!(r#""{}": {way}"#, columns[order.column])
    });
    let sort: Vec<String> = sort.collect();
    if !sort.is_empty() {
        stages.push(format!(r#"{{"$sort": {{{}}}}}"#, sort.join(", ")));
    }
    stages.extend(group.limit.map(|limit| format!(r#"{{"$limit": {limit}}}"#)));
    Some(Question { text: format!("[{}]", stages.join(", ")), columns })
}

/// Returns how each group computes its value `n`. If that is a sum that can be of nothing, also
/// returns what it is in the end.
fn computed(table: &Table, n: usize, compute: &Compute) -> (String, Option<String>) {
    let value = compute.column.map(|column| read(table, column)).unwrap_or_default();
    let nullable = compute.column.is_some_and(|column| table.columns[column].nullable);
    // Only null and absent values sort before all others.
    let there = format!(r#"{{"$sum": {{"$cond": [{{"$gt": [{value}, null]}}, 1, 0]}}}}"#);
    let field = match compute.aggregate {
        Aggregate::Count if nullable => there.clone(),
        Aggregate::Count => r#"{"$sum": 1}"#.to_owned(),
        Aggregate::Sum => format!(r#"{{"$sum": {value}}}"#),
        Aggregate::Avg => format!(r#"{{"$avg": {value}}}"#),
        Aggregate::Min => format!(r#"{{"$min": {value}}}"#),
        Aggregate::Max => format!(r#"{{"$max": {value}}}"#),
    };
    if compute.aggregate != Aggregate::Sum || !nullable {
        return (format!(r#""c{n}": {field}"#), None);
    }
    // MongoDB's sum of nothing is 0.
    let sum = format!(r#""c{n}": {{"$cond": [{{"$gt": ["$n{n}", 0]}}, "$c{n}", null]}}"#);
    (format!(r#""c{n}": {field}, "n{n}": {there}"#), Some(sum))
}
