//! Questions of a workload file as aggregation pipelines of MongoDB. A value that is absent has no
//! field; the columns of the key stand under `_id`.

use std::fmt::Write;

use embermark_language::{Aggregate, Group, Grouped, Operator};
use embermark_model::table::{ColumnType, Table, Value};

use super::super::access::Filter;

/// A pipeline, as a JSON array of stages, and where the columns of its answer stand in a document of it.
#[derive(Debug, PartialEq)]
pub(super) struct Pipeline {
    pub text: String,
    pub columns: Vec<String>,
}

/// Where a column stands in the documents of a table.
pub(super) fn path(table: &Table, column: usize) -> String {
    let name = &table.columns[column].name;
    match (table.key.contains(&column), table.key.len()) {
        (true, 1) => "_id".to_owned(),
        (true, _) => format!("_id.{name}"),
        (false, _) => name.clone(),
    }
}

/// Every column of a table's documents.
pub(super) fn paths(table: &Table) -> Vec<String> {
    (0..table.columns.len()).map(|column| path(table, column)).collect()
}

/// The groups of a table's rows that meet the filters; `None` where MongoDB would answer otherwise: it
/// orders bytes by their length first. Times of buckets may lie before 1970 where `early` says so.
pub(super) fn group(
    table: &Table,
    group: &Group,
    filters: &[Filter<'_>],
    early: bool,
) -> Option<Pipeline> {
    let sorts_bytes = group.order.iter().any(|order| match group.by.get(order.column) {
        Some(Grouped::Column(column)) => table.columns[*column].of == ColumnType::Bytes,
        _ => false,
    });
    // Of no rows it makes no group, and so none that could meet a condition.
    if sorts_bytes || (group.by.is_empty() && !group.having.is_empty()) {
        return None;
    }
    let mut stages = Vec::new();
    stages.extend(matching(table, filters)?);
    let by: Vec<String> = group.by.iter().map(|by| grouped(table, *by, early)).collect();
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
        let value = compute.column.map(|column| format!(r#""${}""#, path(table, column)));
        let nullable = compute.column.is_some_and(|column| table.columns[column].nullable);
        let value = value.unwrap_or_default();
        // Of all values null and what is absent alone come first.
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
            // A sum of nothing is 0 to MongoDB.
            write(&mut computed, format_args!(r#", "n{n}": {there}"#));
            let comma = if absent.is_empty() { "" } else { ", " };
            let sum = format!(r#"{{"$cond": [{{"$gt": ["$n{n}", 0]}}, "$c{n}", null]}}"#);
            write(&mut absent, format_args!(r#"{comma}"c{n}": {sum}"#));
        }
        columns.push(format!("c{n}"));
    }
    stages.push(format!(r#"{{"$group": {{"_id": {id}{computed}}}}}"#));
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

/// Gaps in the times of each value of a column: the value, from when, and until when.
pub(super) fn gaps(table: &Table, by: usize, time: usize, longer: i64) -> Pipeline {
    let (of, at) = (path(table, by), path(table, time));
    let text = format!(
        r#"[{{"$match": {{"{of}": {{"$ne": null}}}}}},
        {{"$setWindowFields": {{"partitionBy": "${of}", "sortBy": {{"{at}": 1}},
            "output": {{"gap from": {{"$shift": {{"output": "${at}", "by": -1}}}}}}}}}},
        {{"$match": {{"$expr": {{"$and": [{{"$ne": ["$gap from", null]}},
            {{"$gt": [{{"$subtract": ["${at}", "$gap from"]}}, {longer}]}}]}}}}}}]"#
    );
    Pipeline { text, columns: vec![of, "gap from".to_owned(), at] }
}

/// The rows that meet the filters; `None` where bytes would be compared.
pub(super) fn matched(table: &Table, filters: &[Filter<'_>]) -> Option<Pipeline> {
    let stage = matching(table, filters)?.unwrap_or_default();
    Some(Pipeline { text: format!("[{stage}]"), columns: paths(table) })
}

/// The newest rows of each value of a column.
pub(super) fn latest(table: &Table, by: usize, time: usize) -> Pipeline {
    let (of, at) = (path(table, by), path(table, time));
    let is_key = table.key.len() == 2 && table.key.contains(&by) && table.key.contains(&time);
    let text = if is_key {
        // A value has one row of a time: documents are compared by their first field.
        format!(
            r#"[{{"$group": {{"_id": "${of}", "newest": {{"$max": {{"at": "${at}", "row": "$$ROOT"}}}}}}}},
            {{"$replaceRoot": {{"newRoot": "$newest.row"}}}}]"#
        )
    } else {
        format!(
            r#"[{{"$match": {{"$and": [{{"{of}": {{"$ne": null}}}}, {{"{at}": {{"$ne": null}}}}]}}}},
            {{"$setWindowFields": {{"partitionBy": "${of}", "sortBy": {{"{at}": -1}},
                "output": {{"rank in time": {{"$rank": {{}}}}}}}}}},
            {{"$match": {{"rank in time": 1}}}}]"#
        )
    };
    Pipeline { text, columns: paths(table) }
}

/// The stage that lets rows pass which meet all filters; `None` where bytes would be compared.
fn matching(table: &Table, filters: &[Filter<'_>]) -> Option<Option<String>> {
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

/// A comparison with a bound.
fn condition(operator: Operator, bound: &str) -> String {
    match operator {
        Operator::Equal => format!(r#"{{"$eq": {bound}}}"#),
        // What is absent is unequal too.
        Operator::NotEqual => format!(r#"{{"$nin": [{bound}, null]}}"#),
        Operator::Less => format!(r#"{{"$lt": {bound}}}"#),
        Operator::AtMost => format!(r#"{{"$lte": {bound}}}"#),
        Operator::Greater => format!(r#"{{"$gt": {bound}}}"#),
        Operator::AtLeast => format!(r#"{{"$gte": {bound}}}"#),
    }
}

/// The range of keys in which rows of the filters lie, as a condition: of a key of several columns
/// MongoDB has an order of whole keys alone.
fn key_range(table: &Table, filters: &[Filter<'_>]) -> Option<String> {
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
        // Whatever follows in a key is below the greatest of all values.
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

fn grouped(table: &Table, by: Grouped, early: bool) -> String {
    match by {
        Grouped::Column(column) => format!(r#""${}""#, path(table, column)),
        Grouped::Bucket { column, units } => {
            let (time, units) = (path(table, column), long(units));
            let within = format!(r#"{{"$mod": ["${time}", {units}]}}"#);
            // What is left of a negative number is negative.
            let within = match early {
                true => format!(r#"{{"$mod": [{{"$add": [{within}, {units}]}}, {units}]}}"#),
                false => within,
            };
            format!(r#"{{"$subtract": ["${time}", {within}]}}"#)
        }
    }
}

/// A value in MongoDB's extended JSON
/// (<https://www.mongodb.com/docs/v6.0/reference/mongodb-extended-json/>); none of bytes.
fn value(of: Value<'_>) -> Option<String> {
    Some(match of {
        Value::Null => "null".to_owned(),
        Value::Int(int) => long(int),
        Value::Float(float) => format!(r#"{{"$numberDouble": "{float:?}"}}"#),
        Value::Text(text) => serde_json::Value::from(text).to_string(),
        Value::Bytes(_) => return None,
    })
}

fn long(int: i64) -> String {
    format!(r#"{{"$numberLong": "{int}"}}"#)
}

/// Writing to a string cannot fail.
fn write(to: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(what);
}

#[cfg(test)]
mod tests;
