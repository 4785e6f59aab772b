//! Documents, filters and searches as the JSON texts of docs/client-protocol.md.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use embermark_contract::document::{CollectionDef, Field, Filter, Find, Order, Value};
use serde_json::json;

/// Formats a key, or the first values of one: an object of its fields, in order.
pub(super) fn key(def: &CollectionDef, values: &[Value<'_>]) -> String {
    object(def.key.iter().zip(values).map(|(name, value)| (*name, text(value))))
}

/// Formats fields by name.
pub(super) fn fields(fields: &[Field<'_>]) -> String {
    object(fields.iter().map(|(name, value)| (*name, text(value))))
}

/// Formats the fields of a document. Consecutive fields like `data.level` form an object `data`.
pub(super) fn document(all: &[Field<'_>]) -> String {
    let outer = |name: &str| name.split_once('.').map(|(outer, _)| outer.to_owned());
    let same = |(a, _): &Field<'_>, (b, _): &Field<'_>| outer(a).is_some() && outer(a) == outer(b);
    object(all.chunk_by(same).map(|group| {
        let (name, value) = &group[0];
        let Some((outer, _)) = name.split_once('.') else { return (*name, text(value)) };
        let inner = |(name, value): &Field<'_>| (name[outer.len() + 1..].to_owned(), text(value));
        (outer, object(group.iter().map(inner)))
    }))
}

/// Formats a filter.
pub(super) fn filter(def: &CollectionDef, of: &Filter<'_>) -> String {
    let one = |kind: &str, content: String| object([(kind, content)]);
    match of {
        Filter::All => one("all", "true".to_owned()),
        Filter::Key(values) => one("key", key(def, values)),
        Filter::Keys { from, to } => {
            one("keys", object([("from", key(def, from)), ("to", key(def, to))]))
        }
        Filter::Equal(field, value) => one("equal", object([(*field, text(value))])),
        Filter::Between { field, from, to } => {
            let ends = format!("[{}, {}]", text(from), text(to));
            one("between", object([(*field, ends)]))
        }
        Filter::Every(filters) => {
            let all: Vec<String> = filters.iter().map(|of| filter(def, of)).collect();
            one("every", format!("[{}]", all.join(", ")))
        }
    }
}

/// Formats a search.
pub(super) fn find(def: &CollectionDef, of: &Find<'_>) -> String {
    let order = match of.order {
        Order::Any => json!(null),
        Order::Key => json!([null, 1]),
        Order::KeyDescending => json!([null, -1]),
        Order::By(field) => json!([field, 1]),
        Order::ByDescending(field) => json!([field, -1]),
    };
    object([
        ("filter", filter(def, &of.filter)),
        ("order", order.to_string()),
        ("limit", json!(of.limit).to_string()),
        ("columns", names(of.columns)),
    ])
}

/// Formats a list of names.
pub(super) fn names(names: &[&str]) -> String {
    json!(names).to_string()
}

fn object<N: AsRef<str>>(fields: impl IntoIterator<Item = (N, String)>) -> String {
    let field = |(name, value): (N, String)| format!("{}: {value}", json!(name.as_ref()));
    format!("{{{}}}", fields.into_iter().map(field).collect::<Vec<_>>().join(", "))
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Int(int) => int.to_string(),
        // With a point or an exponent.
        Value::Float(float) if float.is_finite() => json!(float).to_string(),
        Value::Float(float) if float.is_nan() => json!({ "$numberDouble": "NaN" }).to_string(),
        Value::Float(float) => {
            let word = if *float > 0.0 { "Infinity" } else { "-Infinity" };
            json!({ "$numberDouble": word }).to_string()
        }
        Value::Text(text) => json!(text).to_string(),
        Value::Bytes(bytes) => json!({ "$binary": STANDARD.encode(bytes) }).to_string(),
        Value::Date(ms) => json!({ "$date": ms }).to_string(),
        Value::List(values) => {
            format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        Value::Fields(of) => fields(of),
    }
}
