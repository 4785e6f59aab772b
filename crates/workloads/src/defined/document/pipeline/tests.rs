use embermark_language::{Aggregate, Compute, Group, Grouped, Operator, OrderBy};
use embermark_model::table::{TimeUnit, Value};
use serde_json::{Value as Json, json};

use super::rows::key_range;
use super::values::{Times, paths};
use super::*;
use crate::defined::access::Filter;
use crate::defined::port::Question;
use crate::defined::tables::{compute, group_of, table};

fn json_of(made: Option<Question>) -> (Json, Vec<String>) {
    let made = made.unwrap();
    (serde_json::from_str(&made.text).unwrap(), made.columns)
}

fn is(column: usize, operator: Operator, bound: Value<'_>) -> Filter<'_> {
    Filter { column, operator, bound }
}

#[test]
fn columns_of_the_key_stand_under_its_id() {
    assert_eq!(paths(table(&[0, 1])), ["_id.station", "_id.time", "value", "note", "raw"]);
    assert_eq!(paths(table(&[1])), ["station", "_id", "value", "note", "raw"]);
}

#[test]
fn groups_are_stages_in_the_order_of_their_work() {
    let group = Group {
        by: vec![Grouped::Column(0), Grouped::Bucket { column: 1, units: 3600 }],
        compute: vec![
            compute(Aggregate::Count, None),
            compute(Aggregate::Sum, Some(2)),
            compute(Aggregate::Count, Some(2)),
            compute(Aggregate::Avg, Some(2)),
            compute(Aggregate::Max, Some(1)),
        ],
        order: vec![
            OrderBy { column: 3, descending: true },
            OrderBy { column: 0, descending: false },
        ],
        limit: Some(7),
        ..group_of()
    };
    let filters =
        [is(0, Operator::Equal, Value::Int(5)), is(2, Operator::NotEqual, Value::Float(0.5))];
    let (text, columns) =
        json_of(statistics::group(table(&[0, 1]), &group, &filters, &Times::default()));
    assert_eq!(columns, ["_id.g0", "_id.g1", "c0", "c1", "c2", "c3", "c4"]);
    let there = json!({"$sum": {"$cond": [{"$gt": ["$value", null]}, 1, 0]}});
    let hour = json!({"$numberLong": "3600"});
    let bucket = json!({"$subtract": ["$_id.time", {"$mod": ["$_id.time", hour]}]});
    let expected = json!([
        {"$match": {"$and": [
            {"_id": {
                "$gte": {"station": {"$numberLong": "5"}},
                "$lte": {"station": {"$numberLong": "5"}, "time": {"$maxKey": 1}},
            }},
            {"_id.station": {"$eq": {"$numberLong": "5"}}},
            {"value": {"$nin": [{"$numberDouble": "0.5"}, null]}},
        ]}},
        {"$group": {
            "_id": {"g0": "$_id.station", "g1": bucket},
            "c0": {"$sum": 1}, "c1": {"$sum": "$value"}, "n1": there, "c2": there,
            "c3": {"$avg": "$value"}, "c4": {"$max": "$_id.time"},
        }},
        {"$set": {"c1": {"$cond": [{"$gt": ["$n1", 0]}, "$c1", null]}}},
        {"$sort": {"c1": -1, "_id.g0": 1}},
        {"$limit": 7},
    ]);
    assert_eq!(text, expected);
    let sorted =
        statistics::group(table(&[0, 1]), &group, &filters, &Times::default()).unwrap().text;
    assert!(sorted.contains(r#"{"$sort": {"c1": -1, "_id.g0": 1}}"#), "in this order: {sorted}");
}

#[test]
fn one_column_is_the_id_and_none_is_one_group() {
    let count = vec![compute(Aggregate::Count, None)];
    let early = Times { early: true, ..Times::default() };
    let by = vec![Grouped::Bucket { column: 1, units: 60 }];
    let group = Group { by, compute: count.clone(), ..group_of() };
    let (text, columns) = json_of(statistics::group(table(&[0, 1]), &group, &[], &early));
    let minute = json!({"$numberLong": "60"});
    let left = json!({"$mod": [{"$add": [{"$mod": ["$_id.time", minute]}, minute]}, minute]});
    let id = json!({"$subtract": ["$_id.time", left]});
    assert_eq!(text, json!([{"$group": {"_id": id, "c0": {"$sum": 1}}}]));
    assert_eq!(columns, ["_id", "c0"]);
    let group = Group { compute: count, ..group_of() };
    let (text, columns) = json_of(statistics::group(table(&[0, 1]), &group, &[], &early));
    assert_eq!(text, json!([{"$group": {"_id": null, "c0": {"$sum": 1}}}]));
    assert_eq!(columns, ["c0"]);
}

#[test]
fn a_month_is_a_number_after_rows_are_grouped_by_less() {
    let count = vec![compute(Aggregate::Count, None)];
    let month = Grouped::Month { column: 1, unit: TimeUnit::Seconds };
    let group = Group { by: vec![month], compute: count.clone(), ..group_of() };
    let date = json!({"$toDate": {"$multiply": ["$_id.time", 1000]}});
    let times = Times { early: false, years: vec![None, Some(2023)] };
    let (text, _) = json_of(statistics::group(table(&[0, 1]), &group, &[], &times));
    assert_eq!(
        text,
        json!([
            {"$group": {"_id": {"$month": date}, "c0": {"$sum": 1}}},
            {"$set": {"_id": {"$add": [{"$numberLong": "202300"}, "$_id"]}}},
        ])
    );
    let group = Group { by: vec![Grouped::Column(0), month], compute: count, ..group_of() };
    let (text, _) = json_of(statistics::group(table(&[0, 1]), &group, &[], &Times::default()));
    let trunc = json!({"$dateTrunc": {"date": date, "unit": "month"}});
    let [year, month] = [json!({"$year": "$_id.g1"}), json!({"$month": "$_id.g1"})];
    assert_eq!(
        text,
        json!([
            {"$group": {"_id": {"g0": "$_id.station", "g1": trunc}, "c0": {"$sum": 1}}},
            {"$set": {"_id.g1": {"$add": [{"$multiply": [year, 100]}, month]}}},
        ])
    );
}

#[test]
fn bytes_are_neither_sorted_nor_compared() {
    let count: Vec<Compute> = vec![compute(Aggregate::Count, None)];
    let order = vec![OrderBy { column: 0, descending: false }];
    let group = Group { by: vec![Grouped::Column(4)], compute: count, order, ..group_of() };
    assert_eq!(statistics::group(table(&[0, 1]), &group, &[], &Times::default()), None);
    let unordered = Group { order: Vec::new(), ..group };
    assert!(statistics::group(table(&[0, 1]), &unordered, &[], &Times::default()).is_some());
    let bytes = [is(4, Operator::Equal, Value::Bytes(b"x"))];
    assert_eq!(statistics::group(table(&[0, 1]), &unordered, &bytes, &Times::default()), None);
}

/// Returns the condition on whole keys for filters.
fn range_of(key: &[usize], filters: &[Filter<'_>]) -> Option<Json> {
    let made = key_range(table(key), filters)?;
    Some(serde_json::from_str::<Json>(&made).unwrap()["_id"].take())
}

#[test]
fn filters_of_the_first_columns_of_a_key_bound_it() {
    let long = |n: i64| json!({"$numberLong": n.to_string()});
    let max = json!({"$maxKey": 1});
    let (five, six) = (Value::Int(5), Value::Int(6));
    let whole = [is(1, Operator::Equal, six), is(0, Operator::Equal, five)];
    let key = json!({"station": long(5), "time": long(6)});
    assert_eq!(range_of(&[0, 1], &whole), Some(json!({"$gte": key, "$lte": key})));
    let from = [is(0, Operator::Equal, five), is(1, Operator::Greater, six)];
    let above = json!({"station": long(5), "time": max});
    assert_eq!(range_of(&[0, 1], &from), Some(json!({"$gte": key, "$lte": above})));
    let to = [is(0, Operator::Less, five)];
    assert_eq!(range_of(&[0, 1], &to), Some(json!({"$lte": above})));
    assert_eq!(range_of(&[0, 1], &[is(0, Operator::AtLeast, five)]), {
        Some(json!({"$gte": {"station": long(5)}}))
    });
    assert_eq!(range_of(&[0, 1], &[is(1, Operator::Equal, six)]), None);
    assert_eq!(range_of(&[0, 1], &[is(0, Operator::NotEqual, six)]), None);
    assert_eq!(range_of(&[1], &[is(1, Operator::Equal, six)]), None, "its own index has it");
}

#[test]
fn texts_are_escaped() {
    let (text, _) = json_of(statistics::group(
        table(&[0, 1]),
        &Group { compute: vec![compute(Aggregate::Count, None)], ..group_of() },
        &[is(3, Operator::Equal, Value::Text("a \"b\" \\ $c\n"))],
        &Times::default(),
    ));
    assert_eq!(text[0]["$match"]["$and"][0]["note"]["$eq"], json!("a \"b\" \\ $c\n"));
}
