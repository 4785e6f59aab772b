//! Groups of rows, and rows compared with others of their group: gaps, outliers, and correlations.

use embermark_language::{Aggregate, Compute, Correlate, Group, Grouped};
use embermark_model::table::{ColumnType, Table};

use super::rows::{condition, first, matching};
use super::values::{Times, grouped, numbered, path, read, value};
use crate::defined::{Filter, Question};

/// Returns a pipeline for gaps in the times of each value of a column, among the rows that meet the
/// filters. Columns: the value, and the first and last time of the gap.
pub fn gaps(
    table: &Table,
    filters: &[Filter<'_>],
    (by, time): (usize, usize),
    longer: i64,
) -> Option<Question> {
    let (of, at) = (path(table, by), path(table, time));
    let own = first(table, filters)?;
    if table.key == [by, time] {
        // In key order, which is the index's order, the row before is the last of the same value or
        // of another value. So neither a partition nor a sort is needed.
        let [of_name, at_name] = [by, time].map(|column| &table.columns[column].name);
        let text = format!(
            r#"[{own}{{"$setWindowFields": {{"sortBy": {{"_id": 1}},
                "output": {{"row before": {{"$shift": {{"output": "$_id", "by": -1}}}}}}}}}},
            {{"$match": {{"$expr": {{"$and": [{{"$eq": ["${of}", "$row before.{of_name}"]}},
                {{"$gt": [{{"$subtract": ["${at}", "$row before.{at_name}"]}}, {longer}]}}]}}}}}}]"#
        );
        let columns = vec![of, format!("row before.{at_name}"), at];
        return Some(Question { text, columns });
    }
    let text = format!(
        r#"[{own}{{"$match": {{"{of}": {{"$ne": null}}}}}},
        {{"$setWindowFields": {{"partitionBy": "${of}", "sortBy": {{"{at}": 1}},
            "output": {{"gap from": {{"$shift": {{"output": "${at}", "by": -1}}}}}}}}}},
        {{"$match": {{"$expr": {{"$and": [{{"$ne": ["$gap from", null]}},
            {{"$gt": [{{"$subtract": ["${at}", "$gap from"]}}, {longer}]}}]}}}}}}]"#
    );
    Some(Question { text, columns: vec![of, "gap from".to_owned(), at] })
}

/// Returns a pipeline for rows, among those that meet the filters, whose value is more than this
/// many deviations from the mean of their group. Columns: the key and the value.
pub fn outliers(
    table: &Table,
    filters: &[Filter<'_>],
    (of, by): (usize, usize),
    deviations: f64,
) -> Option<Question> {
    let (value, group) = (path(table, of), path(table, by));
    let own = first(table, filters)?;
    let columns = table.key.iter().chain([&of]).map(|column| path(table, *column)).collect();
    let far = format!(r#"{{"$abs": {{"$subtract": ["${value}", "$$mean"]}}}}"#);
    let deviations = format!(r#"{{"$numberDouble": "{deviations:?}"}}"#);
    if let (Some(first), true) = (by_key(table, by), table.key.len() > 1) {
        // A range of keys finds the rows of a group.
        let text = format!(
            r#"[{own}{{"$group": {{"_id": "${group}", "mean": {{"$avg": "${value}"}},
                "deviation": {{"$stdDevSamp": "${value}"}}}}}},
            {{"$match": {{"deviation": {{"$ne": null}}}}}},
            {{"$lookup": {{"from": "{name}",
                "let": {{"first": {{"{first}": "$_id"}}, "end": {{"{first}": {{"$add": ["$_id", 1]}}}},
                    "mean": "$mean", "far": {{"$multiply": [{deviations}, "$deviation"]}}}},
                "pipeline": [{{"$match": {{"$expr": {{"$and": [
                    {{"$gte": ["$_id", "$$first"]}}, {{"$lt": ["$_id", "$$end"]}},
                    {{"$gt": [{far}, "$$far"]}}]}}}}}}],
                "as": "row"}}}},
            {{"$unwind": "$row"}}, {{"$replaceRoot": {{"newRoot": "$row"}}}}]"#,
            name = table.name,
        );
        return Some(Question { text, columns });
    }
    let all = r#""window": {"documents": ["unbounded", "unbounded"]}"#;
    let far = far.replace("$$mean", "$mean of group");
    let text = format!(
        r#"[{own}{{"$match": {{"$and": [{{"{group}": {{"$ne": null}}}}, {{"{value}": {{"$ne": null}}}}]}}}},
        {{"$setWindowFields": {{"partitionBy": "${group}", "output": {{
            "mean of group": {{"$avg": "${value}", {all}}},
            "deviation of group": {{"$stdDevSamp": "${value}", {all}}}}}}}}},
        {{"$match": {{"$and": [{{"deviation of group": {{"$ne": null}}}}, {{"$expr": {{"$gt": [{far},
            {{"$multiply": [{deviations}, "$deviation of group"]}}]}}}}]}}}}]"#
    );
    Some(Question { text, columns })
}

/// Returns the name of a column whose rows are a range of keys: integers at the start of the key.
fn by_key(table: &Table, column: usize) -> Option<&str> {
    let of = &table.columns[column];
    let is_first = table.key.first() == Some(&column);
    (is_first && matches!(of.of, ColumnType::Int { .. })).then_some(&*of.name)
}

/// Returns a pipeline for the correlation of two groups. Columns: the number of buckets that both
/// have, and the centred sums xy, xx, and yy of their pairs of means, or null without pairs. In a
/// bucket that both have, the sum of a group's mean and the other group's 0 is the mean. The window
/// without bounds adds the overall means to each pair. `$facet` returns a document even without
/// pairs.
pub fn correlate(table: &Table, question: &Correlate, times: &Times) -> Option<Question> {
    let (group, number) = (path(table, question.by), path(table, question.of));
    let bucket = Grouped::Bucket { column: question.time, units: question.bucket };
    let bucket = grouped(table, bucket, times);
    let two = match &question.between {
        Some([a, b]) => {
            let (a, b) = (value(a.as_value())?, value(b.as_value())?);
            format!(
                r#"{{"$limit": 1}}, {{"$project": {{"_id": [{a}, {b}]}}}}, {{"$unwind": "$_id"}}"#
            )
        }
        None => format!(
            r#"{{"$match": {{"{group}": {{"$ne": null}}}}}},
            {{"$group": {{"_id": "${group}", "rows": {{"$sum": 1}}}}}},
            {{"$sort": {{"rows": -1, "_id": 1}}}}, {{"$limit": 2}}"#
        ),
    };
    let (variables, is_of) = match by_key(table, question.by).filter(|_| table.key.len() > 1) {
        Some(first) => (
            format!(
                r#""first": {{"{first}": "$_id"}}, "end": {{"{first}": {{"$add": ["$_id", 1]}}}}"#
            ),
            r#"{"$and": [{"$gte": ["$_id", "$$first"]}, {"$lt": ["$_id", "$$end"]}]}"#.to_owned(),
        ),
        None => (r#""group": "$_id""#.to_owned(), format!(r#"{{"$eq": ["${group}", "$$group"]}}"#)),
    };
    let text = format!(
        r#"[{two},
        {{"$setWindowFields": {{"sortBy": {{"_id": 1}}, "output": {{"place": {{"$documentNumber": {{}}}}}}}}}},
        {{"$lookup": {{"from": "{name}", "let": {{{variables}}}, "pipeline": [
            {{"$match": {{"$expr": {is_of}, "{number}": {{"$ne": null}}}}}},
            {{"$group": {{"_id": {bucket}, "mean": {{"$avg": "${number}"}}}}}}],
            "as": "bucket"}}}},
        {{"$unwind": "$bucket"}},
        {{"$group": {{"_id": "$bucket._id", "groups": {{"$sum": 1}},
            "x": {{"$sum": {{"$cond": [{{"$eq": ["$place", 1]}}, "$bucket.mean", 0]}}}},
            "y": {{"$sum": {{"$cond": [{{"$eq": ["$place", 2]}}, "$bucket.mean", 0]}}}}}}}},
        {{"$match": {{"groups": 2}}}},
        {{"$setWindowFields": {{"output": {{"mx": {{"$avg": "$x"}}, "my": {{"$avg": "$y"}}}}}}}},
        {{"$project": {{"_id": 0, "x": {{"$subtract": ["$x", "$mx"]}}, "y": {{"$subtract": ["$y", "$my"]}}}}}},
        {{"$facet": {{"pairs": [{{"$group": {{"_id": null, "buckets": {{"$sum": 1}},
            "xy": {{"$sum": {{"$multiply": ["$x", "$y"]}}}},
            "xx": {{"$sum": {{"$multiply": ["$x", "$x"]}}}},
            "yy": {{"$sum": {{"$multiply": ["$y", "$y"]}}}}}}}}]}}}},
        {{"$project": {{"buckets": {{"$ifNull": [{{"$first": "$pairs.buckets"}}, 0]}},
            "xy": {{"$first": "$pairs.xy"}}, "xx": {{"$first": "$pairs.xx"}},
            "yy": {{"$first": "$pairs.yy"}}}}}}]"#,
        name = table.name,
    );
    let columns = ["buckets", "xy", "xx", "yy"].map(str::to_owned).to_vec();
    Some(Question { text, columns })
}

/// Returns a pipeline for the groups of the rows that meet the filters. `None` where MongoDB's
/// answer would differ: it orders bytes by their length first.
pub fn group(
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
