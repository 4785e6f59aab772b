//! Groups of rows.

use std::fmt::Write;

use embermark_language::{Aggregate, Group, Grouped};
use embermark_model::table::{ColumnType, Table};

use super::Pipeline;
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
) -> Option<Pipeline> {
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
    let (mut computed, mut absent) = (String::new(), String::new());
    for (n, compute) in group.compute.iter().enumerate() {
        let value = compute.column.map(|column| read(table, column));
        let nullable = compute.column.is_some_and(|column| table.columns[column].nullable);
        let value = value.unwrap_or_default();
        // Only null and absent values sort before all others.
        let there = format!(r#"{{"$sum": {{"$cond": [{{"$gt": [{value}, null]}}, 1, 0]}}}}"#);
        let accumulated = match compute.aggregate {
            Aggregate::Count if nullable => there.clone(),
            Aggregate::Count => r#"{"$sum": 1}"#.to_owned(),
            Aggregate::Sum => format!(r#"{{"$sum": {value}}}"#),
            Aggregate::Avg => format!(r#"{{"$avg": {value}}}"#),
            Aggregate::Min => format!(r#"{{"$min": {value}}}"#),
            Aggregate::Max => format!(r#"{{"$max": {value}}}"#),
        };
        write(&mut computed, format_args!(r#", "c{n}": {accumulated}"#));
        if compute.aggregate == Aggregate::Sum && nullable {
            // MongoDB's sum of nothing is 0.
            write(&mut computed, format_args!(r#", "n{n}": {there}"#));
            let comma = if absent.is_empty() { "" } else { ", " };
            let sum = format!(r#"{{"$cond": [{{"$gt": ["$n{n}", 0]}}, "$c{n}", null]}}"#);
            write(&mut absent, format_args!(r#"{comma}"c{n}": {sum}"#));
        }
        columns.push(format!("c{n}"));
    }
    stages.push(format!(r#"{{"$group": {{"_id": {id}{computed}}}}}"#));
    let months = group.by.iter().zip(&columns).filter_map(|(by, place)| {
        let Grouped::Month { column, .. } = by else { return None };
        Some(format!(r#""{place}": {}"#, numbered(place, times.year(*column))))
    });
    let months: Vec<String> = months.collect();
    if !months.is_empty() {
        stages.push(format!(r#"{{"$set": {{{}}}}}"#, months.join(", ")));
    }
    if !absent.is_empty() {
        stages.push(format!(r#"{{"$set": {{{absent}}}}}"#));
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
    Some(Pipeline { text: format!("[{}]", stages.join(", ")), columns })
}

/// Writing to a string cannot fail.
fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}
