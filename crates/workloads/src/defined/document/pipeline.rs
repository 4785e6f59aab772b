//! Questions of a workload file as aggregation pipelines of MongoDB. A value that is absent has no
//! field; the columns of the key stand under `_id`.

use std::borrow::Cow;
use std::fmt::Write;

use embermark_language::{Aggregate, Correlate, Group, Grouped, Operator};
use embermark_model::table::{Column, ColumnType, Table, TimeUnit, Value, Within};

use super::super::access::Filter;

/// A pipeline, as a JSON array of stages, and where the columns of its answer stand in a document of it.
#[derive(Debug, PartialEq)]
pub(super) struct Pipeline {
    pub text: String,
    pub columns: Vec<String>,
}

/// When the rows of a table are.
#[derive(Default)]
pub(super) struct Times {
    /// Whether times lie before 1970.
    pub early: bool,
    /// By column: the year, where all of its times lie in one.
    pub years: Vec<Option<i64>>,
}

/// Where a column stands in the documents of a table.
pub(super) fn path(table: &Table, column: usize) -> String {
    let name = field_name(&table.columns[column]);
    match (table.key.contains(&column), table.key.len()) {
        (true, 1) => "_id".to_owned(),
        (true, _) => format!("_id.{name}"),
        (false, _) => name.into_owned(),
    }
}

/// A column as an expression. Of a document within the whole is read and the field taken from it: of a path to the field
/// the server would make a document with this field alone first.
fn read(table: &Table, column: usize) -> String {
    match table.columns[column].within.as_deref() {
        Some(Within { document, field, .. }) => {
            format!(r#"{{"$getField": {{"field": "{field}", "input": "${document}"}}}}"#)
        }
        None => format!(r#""${}""#, path(table, column)),
    }
}

/// The name of a column beside the key: `data.level` where it is a field of a document.
pub(super) fn field_name(column: &Column) -> Cow<'_, str> {
    match column.within.as_deref() {
        Some(Within { document, field, .. }) => Cow::Owned(format!("{document}.{field}")),
        None => Cow::Borrowed(&column.name),
    }
}

/// Every column of a table's documents.
pub(super) fn paths(table: &Table) -> Vec<String> {
    (0..table.columns.len()).map(|column| path(table, column)).collect()
}

/// The groups of a table's rows that meet the filters; `None` where MongoDB would answer otherwise: it
/// orders bytes by their length first.
pub(super) fn group(
    table: &Table,
    group: &Group,
    filters: &[Filter<'_>],
    times: &Times,
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

/// Gaps in the times of each value of a column, of rows that meet the filters: the value, from when, and until when.
pub(super) fn gaps(
    table: &Table,
    filters: &[Filter<'_>],
    (by, time): (usize, usize),
    longer: i64,
) -> Option<Pipeline> {
    let (of, at) = (path(table, by), path(table, time));
    let own = matching(table, filters)?.map_or(String::new(), |stage| stage + ", ");
    if table.key == [by, time] {
        // In the order of the keys, which is the index's, the row before is the value's last one or another value's: no
        // partition, so no sort.
        let [of_name, at_name] = [by, time].map(|column| &table.columns[column].name);
        let text = format!(
            r#"[{own}{{"$setWindowFields": {{"sortBy": {{"_id": 1}},
                "output": {{"row before": {{"$shift": {{"output": "$_id", "by": -1}}}}}}}}}},
            {{"$match": {{"$expr": {{"$and": [{{"$eq": ["${of}", "$row before.{of_name}"]}},
                {{"$gt": [{{"$subtract": ["${at}", "$row before.{at_name}"]}}, {longer}]}}]}}}}}}]"#
        );
        let columns = vec![of, format!("row before.{at_name}"), at];
        return Some(Pipeline { text, columns });
    }
    let text = format!(
        r#"[{own}{{"$match": {{"{of}": {{"$ne": null}}}}}},
        {{"$setWindowFields": {{"partitionBy": "${of}", "sortBy": {{"{at}": 1}},
            "output": {{"gap from": {{"$shift": {{"output": "${at}", "by": -1}}}}}}}}}},
        {{"$match": {{"$expr": {{"$and": [{{"$ne": ["$gap from", null]}},
            {{"$gt": [{{"$subtract": ["${at}", "$gap from"]}}, {longer}]}}]}}}}}}]"#
    );
    Some(Pipeline { text, columns: vec![of, "gap from".to_owned(), at] })
}

/// Rows, of those that meet the filters, whose value is further than so many deviations from the mean of their group:
/// their keys and values.
pub(super) fn outliers(
    table: &Table,
    filters: &[Filter<'_>],
    (of, by): (usize, usize),
    deviations: f64,
) -> Option<Pipeline> {
    let (value, group) = (path(table, of), path(table, by));
    let own = matching(table, filters)?;
    let columns = table.key.iter().chain([&of]).map(|column| path(table, *column)).collect();
    let far = format!(r#"{{"$abs": {{"$subtract": ["${value}", "$$mean"]}}}}"#);
    let deviations = format!(r#"{{"$numberDouble": "{deviations:?}"}}"#);
    if let (Some(first), true) = (by_key(table, by), table.key.len() > 1) {
        // The rows of a group are found by the range of their keys.
        let own = own.map_or(String::new(), |stage| stage + ", ");
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
        return Some(Pipeline { text, columns });
    }
    let all = r#""window": {"documents": ["unbounded", "unbounded"]}"#;
    let far = far.replace("$$mean", "$mean of group");
    let own = own.map_or(String::new(), |stage| stage + ", ");
    let text = format!(
        r#"[{own}{{"$match": {{"$and": [{{"{group}": {{"$ne": null}}}}, {{"{value}": {{"$ne": null}}}}]}}}},
        {{"$setWindowFields": {{"partitionBy": "${group}", "output": {{
            "mean of group": {{"$avg": "${value}", {all}}},
            "deviation of group": {{"$stdDevSamp": "${value}", {all}}}}}}}}},
        {{"$match": {{"$and": [{{"deviation of group": {{"$ne": null}}}}, {{"$expr": {{"$gt": [{far},
            {{"$multiply": [{deviations}, "$deviation of group"]}}]}}}}]}}}}]"#
    );
    Some(Pipeline { text, columns })
}

/// The name of a column by which rows are found as a range of keys: integers that the key begins with.
fn by_key(table: &Table, column: usize) -> Option<&str> {
    let of = &table.columns[column];
    let is_first = table.key.first() == Some(&column);
    (is_first && matches!(of.of, ColumnType::Int { .. })).then_some(&*of.name)
}

/// How two groups go together: the number of buckets that both have, and of their pairs of means the centred sums xy,
/// xx and yy; null without any. A bucket that both have is a pair of means, of which the other one's 0 takes nothing
/// away; the window without bounds gives each pair the means to be centred on, and `$facet` a document also where there
/// is no pair.
pub(super) fn correlate(table: &Table, question: &Correlate, times: &Times) -> Option<Pipeline> {
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
    Some(Pipeline { text, columns })
}

/// The rows that meet the filters; `None` where bytes would be compared.
pub(super) fn matched(table: &Table, filters: &[Filter<'_>]) -> Option<Pipeline> {
    let stage = matching(table, filters)?.unwrap_or_default();
    Some(Pipeline { text: format!("[{stage}]"), columns: paths(table) })
}

/// The newest rows of each value of a column, of those that meet the filters.
pub(super) fn latest(
    table: &Table,
    filters: &[Filter<'_>],
    by: usize,
    time: usize,
) -> Option<Pipeline> {
    let (of, at) = (path(table, by), path(table, time));
    let own = matching(table, filters)?.map_or(String::new(), |stage| stage + ", ");
    let is_key = table.key.len() == 2 && table.key.contains(&by) && table.key.contains(&time);
    let is_one = filters.iter().any(|of| of.column == by && of.operator == Operator::Equal);
    let text = if is_key && is_one && table.key == [time, by] {
        format!(r#"[{own}{{"$sort": {{"_id": -1}}}}, {{"$limit": 1}}]"#)
    } else if is_key {
        // A value has one row of a time: documents are compared by their first field.
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
    Some(Pipeline { text, columns: paths(table) })
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

fn grouped(table: &Table, by: Grouped, times: &Times) -> String {
    match by {
        Grouped::Column(column) => read(table, column),
        Grouped::Bucket { column, units } => {
            let (time, units) = (read(table, column), long(units));
            let within = format!(r#"{{"$mod": [{time}, {units}]}}"#);
            // What is left of a negative number is negative.
            let within = match times.early {
                true => format!(r#"{{"$mod": [{{"$add": [{within}, {units}]}}, {units}]}}"#),
                false => within,
            };
            format!(r#"{{"$subtract": [{time}, {within}]}}"#)
        }
        Grouped::Month { column, unit } => {
            let date = date(&read(table, column), unit);
            match times.year(column) {
                Some(_) => format!(r#"{{"$month": {date}}}"#),
                None => format!(r#"{{"$dateTrunc": {{"date": {date}, "unit": "month"}}}}"#),
            }
        }
    }
}

/// The date of a time of a unit.
fn date(time: &str, unit: TimeUnit) -> String {
    let milliseconds = match unit.per_second() {
        ..1_000 => format!(r#"{{"$multiply": [{time}, 1000]}}"#),
        1_000 => time.to_owned(),
        finer => format!(
            r#"{{"$toLong": {{"$floor": {{"$divide": [{time}, {}]}}}}}}"#,
            long(finer / 1_000)
        ),
    };
    format!(r#"{{"$toDate": {milliseconds}}}"#)
}

/// Year and month as one number, of what rows of a month were grouped by: the month of the only year that there is, or
/// the date of its beginning.
fn numbered(place: &str, year: Option<i64>) -> String {
    match year {
        Some(year) => format!(r#"{{"$add": [{}, "${place}"]}}"#, long(year * 100)),
        None => format!(
            r#"{{"$add": [{{"$multiply": [{{"$year": "${place}"}}, 100]}}, {{"$month": "${place}"}}]}}"#
        ),
    }
}

impl Times {
    /// The year of a column, where all of its times lie in one.
    fn year(&self, column: usize) -> Option<i64> {
        self.years.get(column).copied().flatten()
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
