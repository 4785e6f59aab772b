//! Reads where the rows of a table come from.

use embermark_data::table::{CODES, OptionFault, check_option, option_names, unknown_codes};
use embermark_model::choice;
use embermark_model::table::{Keep, Literal, RowsFile, RowsFrom};
use jiff::tz::TimeZone;
use toml::de::DeValue;

use crate::node::{Entry, Fields, Node, all, did_you_mean};

/// Makes generated rows of their number.
type Generated = fn(u64) -> RowsFrom;

/// Keys of a table that specify where its rows come from.
pub const KEYS: [&str; 8] = ["file", "rows", "make", "query", "read", "absent", "zone", "keep"];

/// Reads where the rows of a table come from.
pub fn read(fields: &Fields<'_>) -> Option<RowsFrom> {
    let (file, query) = (fields.get("file"), fields.get("query"));
    match (file.is_some() || query.is_some(), fields.get("rows")) {
        (true, Some(rows)) => rows.labelled(
            "both 'rows' and a file or query",
            "its rows come from there",
            "a table has rows from files or a query, or a number of generated rows",
        ),
        (false, Some(rows)) => {
            let others = KEYS.iter().filter(|key| !["rows", "make"].contains(*key));
            let others: Vec<_> = others.filter_map(|key| fields.get(key)).collect();
            for node in &others {
                node.add("rows that are made are not read", "", "take it out");
            }
            let kinds: [(&str, Generated); 2] =
                [("sensor-log", RowsFrom::Log), ("telemetry", RowsFrom::Telemetry)];
            let made: Generated = RowsFrom::Made;
            let kind = fields.or("make", made, |node| node.one_of("kind of rows", &kinds));
            rows.count().filter(|_| others.is_empty()).zip(kind).map(|(rows, kind)| kind(rows))
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
            let zone = fields.maybe("zone", |node| zone(&node));
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

/// Reads the name of a time zone.
fn zone(node: &Node<'_>) -> Option<String> {
    let name = node.text()?;
    let help = "write a name of the time zone database, such as \"Europe/Berlin\" or \"UTC\"";
    if TimeZone::get(name).is_ok() {
        return Some(name.to_owned());
    }
    let known: Vec<_> = jiff::tz::db().available().map(|known| known.to_string()).collect();
    let label = did_you_mean(choice::nearest(name, known.iter().map(String::as_str)));
    node.labelled(format!("unknown time zone '{name}'"), label, help)
}

/// Reads the format of a time.
pub fn format(node: &Node<'_>) -> Option<String> {
    let format = node.text()?;
    let unknown = unknown_codes(format);
    if unknown.is_empty() {
        return Some(format.to_owned());
    }
    let what = match &unknown[..] {
        [one] => format!("unknown code '{one}' of a time's format"),
        several => format!("unknown codes '{}' of a time's format", several.join("', '")),
    };
    node.mistake(what, format!("valid: {CODES}"))
}

/// Reads the options of a reader.
fn options(node: &Node<'_>) -> Option<Vec<(String, Literal)>> {
    all(node.open()?.entries().iter().map(option))
}

fn option(entry: &Entry<'_>) -> Option<(String, Literal)> {
    let (node, name) = (&entry.node, entry.name.to_ascii_lowercase());
    let value = literal(node);
    let checked = check_option(&name, value.as_ref().unwrap_or(&Literal::Bool(true)));
    match checked {
        Err(OptionFault::Unknown) => {
            entry.at_name().unknown("option of a reader", entry.name, option_names())
        }
        Err(OptionFault::Reserved(instead)) => {
            let what = format!("'{name}' is set by embermark");
            entry.at_name().mistake(what, format!("use instead: {instead}"))
        }
        _ if value.is_none() => None,
        Err(OptionFault::Value(allowed)) => {
            node.mistake(format!("expected {allowed} for '{name}'"), "")
        }
        Err(OptionFault::NotOneOf(names)) => {
            let text = node.text()?;
            node.unknown("value", text, names.iter().copied())
        }
        Err(OptionFault::Format) => format(node).and(None),
        Ok(()) => Some((name, value?)),
    }
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
