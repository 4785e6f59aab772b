//! Reads what a `group` filters, groups, computes and orders.

use embermark_model::table::{ColumnType, OwnedValue};

use crate::conditions::{OPERATORS, parts};
use crate::constant;
use crate::definition::{Aggregate, Compute, Group, Grouped, Having, OrderBy};
use crate::node::Node;
use crate::reading::Reading;
use crate::time;

const AGGREGATES: [(&str, Aggregate); 5] = [
    ("count", Aggregate::Count),
    ("sum", Aggregate::Sum),
    ("avg", Aggregate::Avg),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
];

/// Time buckets and their lengths. Others are named by their length: `5m(time)`.
const BUCKETS: [(&str, &str); 4] =
    [("minute", "1m"), ("hour", "1h"), ("day", "1d"), ("week", "1w")];

/// The bucket with a variable length.
const MONTH: &str = "month";

/// Reads a `group`.
pub fn read(phase: &Reading<'_>) -> Option<Group> {
    let fields = phase.fields;
    let conditions = phase.conditions();
    let by = fields.or("by", Vec::new(), |node| once(&node, |item| grouped(phase, item)));
    let count = (Compute { aggregate: Aggregate::Count, column: None }, "count".to_owned());
    let compute = fields.or("compute", vec![count], |node| {
        let computed = once(&node, |item| compute(phase, item))?;
        if computed.is_empty() {
            node.mistake("nothing to compute", "write [\"count\"]")
        } else {
            Some(computed)
        }
    });
    let limit = fields.maybe("limit", |node| node.count());
    let having = match &compute {
        Some(compute) => {
            fields.or("having", Vec::new(), |node| node.each(|item| having(phase, compute, &item)))
        }
        None => None,
    };
    let order = match (&by, &compute) {
        (Some(by), Some(compute)) => {
            let names: Vec<_> =
                by.iter().map(|b| &*b.1).chain(compute.iter().map(|c| &*c.1)).collect();
            fields.or("order", Vec::new(), |node| node.each(|item| order(&names, &item)))
        }
        // What it could name is unknown.
        _ => None,
    };
    if let (Some(node), None) = (fields.get("limit"), fields.get("order")) {
        return node.labelled(
            "a limit without an order",
            "the first of which?",
            "write for example order = [\"-count\"]",
        );
    }
    Some(Group {
        conditions: conditions?,
        by: by?.into_iter().map(|(by, _)| by).collect(),
        compute: compute?.into_iter().map(|(compute, _)| compute).collect(),
        having: having?,
        order: order?,
        limit: limit?,
    })
}

/// Reads every item of a list, with its name, and refuses repetitions.
fn once<'a, T>(
    node: &Node<'a>,
    read: impl Fn(&Node<'a>) -> Option<(T, String)>,
) -> Option<Vec<(T, String)>> {
    let mut names = Vec::new();
    node.each(|item| {
        let (found, name) = read(&item)?;
        if names.contains(&name) {
            return item.mistake(format!("'{name}' twice"), "");
        }
        names.push(name.clone());
        Some((found, name))
    })
}

/// Reads a condition on a computed value.
fn having(phase: &Reading<'_>, computed: &[(Compute, String)], node: &Node<'_>) -> Option<Having> {
    let [name, operator, constant] = parts(node)?;
    let operator = operator.one_of("operator", &OPERATORS);
    let text = name.text()?;
    let plain = text.replace(char::is_whitespace, "");
    let Some(place) = computed.iter().position(|(_, name)| *name == plain) else {
        let names = computed.iter().map(|(_, name)| &**name);
        return name.unknown("name in 'compute'", text, names);
    };
    let Compute { aggregate, column } = computed[place].0;
    let bound = match (aggregate, column) {
        (Aggregate::Count, _) => OwnedValue::Int(constant.integer()?),
        (Aggregate::Min | Aggregate::Max, Some(column)) => {
            constant::read(&constant, phase.draft.column(column)?.of)?
        }
        _ => OwnedValue::Float(constant.number()?),
    };
    Some(Having { compute: place, operator: operator?, bound })
}

/// Splits `name(column)` into both parts.
fn call(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once('(')?;
    Some((name.trim(), rest.trim().strip_suffix(')')?.trim()))
}

fn grouped(phase: &Reading<'_>, node: &Node<'_>) -> Option<(Grouped, String)> {
    let text = node.text()?;
    let Some((name, column)) = call(text) else {
        let place = phase.draft.place_of_group(node)?;
        return Some((Grouped::Column(place), text.to_owned()));
    };
    let named = BUCKETS.iter().find(|(bucket, _)| *bucket == name);
    let length = time::duration(named.map_or(name, |(_, length)| length));
    if length.is_none() && name != MONTH {
        let valid = BUCKETS.iter().map(|(bucket, _)| *bucket).chain([MONTH, "5m"]);
        return node.unknown("bucket of time", name, valid);
    }
    let place = phase.draft.place_of(node, column)?;
    let of = phase.draft.column(place)?.of;
    let ColumnType::Timestamp(unit) = of else {
        let help = format!("'{name}' is of a timestamp");
        return node.mistake(format!("'{column}' is {of} and no timestamp"), help);
    };
    let by = match length.map(|length| time::units(length, unit)) {
        None => Grouped::Month { column: place, unit },
        Some(Some(units)) => Grouped::Bucket { column: place, units },
        Some(None) => {
            let what = format!("'{name}' is not a whole number of {}", unit.name());
            return node.mistake(what, "a bucket is a number of the column's unit");
        }
    };
    Some((by, format!("{name}({column})")))
}

fn compute(phase: &Reading<'_>, node: &Node<'_>) -> Option<(Compute, String)> {
    let text = node.text()?.trim();
    if text == "count" {
        return Some((Compute { aggregate: Aggregate::Count, column: None }, text.to_owned()));
    }
    let (name, column) = call(text).unwrap_or((text, ""));
    if matches!(name, "mean" | "average") {
        let valid = format!("valid: {}", AGGREGATES.map(|a| a.0).join(", "));
        return node.labelled(
            format!("unknown aggregate '{name}'"),
            "it is called 'avg' here",
            valid,
        );
    }
    let Some((_, aggregate)) = AGGREGATES.iter().find(|(aggregate, _)| *aggregate == name) else {
        return node.unknown("aggregate", name, AGGREGATES.map(|a| a.0));
    };
    if column.is_empty() {
        return node.mistake(format!("'{name}' of nothing"), format!("write {name}(column)"));
    }
    let place = phase.draft.place_of(node, column)?;
    let of = phase.draft.column(place)?.of;
    let can = match aggregate {
        Aggregate::Count => true,
        Aggregate::Sum | Aggregate::Avg => matches!(of, ColumnType::Int { .. } | ColumnType::Float),
        Aggregate::Min | Aggregate::Max => {
            matches!(of, ColumnType::Int { .. } | ColumnType::Float | ColumnType::Timestamp(_))
        }
    };
    if !can {
        return node.mistake(
            format!("no {name} of '{column}', which is {of}"),
            "sum and avg are of numbers, min and max of numbers and times, count of anything",
        );
    }
    let computed = Compute { aggregate: *aggregate, column: Some(place) };
    Some((computed, format!("{name}({column})")))
}

fn order(names: &[&str], node: &Node<'_>) -> Option<OrderBy> {
    let text = node.text()?.trim();
    let name = text.strip_prefix('-').unwrap_or(text);
    let plain = name.replace(char::is_whitespace, "");
    let Some(column) = names.iter().position(|name| *name == plain) else {
        return node.unknown("column of the result", name, names.iter().copied());
    };
    Some(OrderBy { column, descending: name.len() < text.len() })
}
