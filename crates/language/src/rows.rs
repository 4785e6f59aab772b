//! Reads where the rows of a table come from.

use embermark_model::table::{Keep, Literal, RowsFile, RowsFrom};
use toml::de::DeValue;

use crate::node::{Fields, Node, all};

/// Keys of a table that specify where its rows come from.
pub const KEYS: [&str; 8] = ["file", "rows", "make", "query", "read", "absent", "zone", "keep"];

/// Reads where the rows of a table come from.
pub fn read(fields: &Fields<'_>) -> Option<RowsFrom> {
    let (file, query) = (fields.get("file"), fields.get("query"));
    match (file.is_some() || query.is_some(), fields.get("rows")) {
        (true, Some(rows)) => rows.mistake(
            "both 'rows' and a file or query",
            "its rows come from there",
            "a table has rows from files or a query, or a number of generated rows",
        ),
        (false, Some(rows)) => {
            let own = ["rows", "make"];
            let others =
                KEYS.iter().filter(|key| !own.contains(key)).filter_map(|key| fields.get(key));
            let mut others = others.map(|node| {
                node.add("rows that are made are not read", "", "take it out");
            });
            let is_alone = others.by_ref().count() == 0;
            let made: fn(u64) -> RowsFrom = RowsFrom::Made;
            let log: fn(u64) -> RowsFrom = RowsFrom::Log;
            let telemetry: fn(u64) -> RowsFrom = RowsFrom::Telemetry;
            let kinds = [("sensor-log", log), ("telemetry", telemetry)];
            let kind = fields.or("make", made, |node| node.one_of("kind of rows", &kinds));
            rows.count().filter(|_| is_alone).zip(kind).map(|(rows, kind)| kind(rows))
        }
        (false, None) => fields.mistake(
            "a table without rows",
            "write file = \"rows.csv\", query = \"SELECT …\", or rows = \"1M\" to have them made",
        ),
        (true, None) => {
            let files = fields.or("file", Vec::new(), |node| texts(&node));
            let query = fields.maybe("query", |node| node.text().map(str::to_owned));
            let read = fields.or("read", Vec::new(), |node| options(&node));
            let absent = fields.or("absent", Vec::new(), |node| texts(&node));
            let zone = fields.maybe("zone", |node| node.text().map(str::to_owned));
            let keep = fields.or("keep", Keep::One, |node| {
                node.one_of("row to keep", &[("first", Keep::First), ("last", Keep::Last)])
            });
            let (files, query, read) = (files?, query?, read?);
            let (absent, zone, keep) = (absent?, zone?, keep?);
            Some(RowsFrom::File(Box::new(RowsFile { files, query, read, absent, zone, keep })))
        }
    }
}

/// Reads one or several texts or numbers.
pub fn texts(node: &Node<'_>) -> Option<Vec<String>> {
    let one = |node: &Node<'_>| match node.value {
        DeValue::Integer(_) => node.integer().map(|value| value.to_string()),
        DeValue::Float(_) => node.number().map(|value| value.to_string()),
        _ => node.text().map(str::to_owned),
    };
    match node.value {
        DeValue::Array(_) => node.each(|item| one(&item)),
        _ => one(node).map(|text| vec![text]),
    }
}

/// Reads the options of a reader.
fn options(node: &Node<'_>) -> Option<Vec<(String, Literal)>> {
    all(node.open()?.entries().into_iter().map(|entry| {
        let is_plain = entry.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain {
            let what = format!("'{}' is no option of a reader", entry.name);
            return entry.node.mistake(what, "", "an option has letters, digits and underscores");
        }
        Some((entry.name.to_ascii_lowercase(), literal(&entry.node)?))
    }))
}

fn literal(node: &Node<'_>) -> Option<Literal> {
    Some(match node.value {
        DeValue::String(text) => Literal::Text(text.to_string()),
        DeValue::Integer(_) => Literal::Int(node.integer()?),
        DeValue::Float(_) => Literal::Float(node.number()?),
        DeValue::Boolean(value) => Literal::Bool(*value),
        DeValue::Array(_) => Literal::List(node.each(|item| literal(&item))?),
        DeValue::Table(_) => {
            let entries = node.open()?.entries().into_iter();
            Literal::Map(all(
                entries.map(|entry| Some((entry.name.to_owned(), literal(&entry.node)?)))
            )?)
        }
        DeValue::Datetime(_) => return node.expected("a text, a number, true or false, or a list"),
    })
}
