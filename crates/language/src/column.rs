//! The columns of a table.

use embermark_model::table::{Column, ColumnType, Make, TimeUnit};

use crate::make;
use crate::node::{Entry, Fields, Node};

/// The names of types; a timestamp has its unit beside it.
const TYPES: [(&str, ColumnType); 13] = [
    ("bool", ColumnType::Bool),
    ("u8", ColumnType::Int { bits: 8, signed: false }),
    ("u16", ColumnType::Int { bits: 16, signed: false }),
    ("u32", ColumnType::Int { bits: 32, signed: false }),
    ("u64", ColumnType::Int { bits: 64, signed: false }),
    ("i8", ColumnType::Int { bits: 8, signed: true }),
    ("i16", ColumnType::Int { bits: 16, signed: true }),
    ("i32", ColumnType::Int { bits: 32, signed: true }),
    ("i64", ColumnType::Int { bits: 64, signed: true }),
    ("f64", ColumnType::Float),
    ("text", ColumnType::Text),
    ("bytes", ColumnType::Bytes),
    ("timestamp", ColumnType::Timestamp(TimeUnit::Seconds)),
];

/// What other languages call them.
const ELSEWHERE: [(&str, &str); 17] = [
    ("blob", "bytes"),
    ("boolean", "bool"),
    ("char", "text"),
    ("date", "timestamp"),
    ("datetime", "timestamp"),
    ("decimal", "f64"),
    ("double", "f64"),
    ("f32", "f64"),
    ("float", "f64"),
    ("int", "i64"),
    ("integer", "i64"),
    ("number", "f64"),
    ("real", "f64"),
    ("str", "text"),
    ("string", "text"),
    ("time", "timestamp"),
    ("varchar", "text"),
];

const UNITS: [(&str, TimeUnit); 4] = [
    (TimeUnit::Seconds.name(), TimeUnit::Seconds),
    (TimeUnit::Milliseconds.name(), TimeUnit::Milliseconds),
    (TimeUnit::Microseconds.name(), TimeUnit::Microseconds),
    (TimeUnit::Nanoseconds.name(), TimeUnit::Nanoseconds),
];

/// Reads one: `"u16?"`, or a table with the type and more. `tables` are the names of the file's.
pub fn read(entry: &Entry<'_>, tables: &[&str]) -> Option<Column> {
    let name = entry.name.to_owned();
    if entry.node.as_text().is_some() {
        let (of, nullable) = of(&entry.node, None)?;
        return Some(Column { name, from: None, of, nullable, make: None });
    }
    let fields = entry.node.open()?;
    let typed = fields.need("type", "type = \"u16\"", |node| of(&node, Some(&fields)));
    if fields.get("make").is_some() {
        let (of, nullable) = typed?;
        let absent = fields.or("absent", 0.0, |node| node.share());
        let kind = make::read(&fields, of, tables);
        let make = Make { kind: kind?, absent: absent? };
        let nullable = nullable || make.absent > 0.0;
        return Some(Column { name, from: None, of, nullable, make: Some(make) });
    }
    fields.only(&["type", "unit", "from", "absent", "make"]);
    let from = fields.maybe("from", |node| node.text().map(str::to_owned));
    let absent = fields.or("absent", false, |node| node.bool());
    let (of, nullable) = typed?;
    Some(Column { name, from: from?, of, nullable: nullable || absent?, make: None })
}

/// A type, and whether a `?` behind it says that values may be absent.
fn of(node: &Node<'_>, beside: Option<&Fields<'_>>) -> Option<(ColumnType, bool)> {
    let text = node.text()?;
    let name = text.strip_suffix('?').unwrap_or(text);
    let nullable = name.len() < text.len();
    let unit = beside.and_then(|fields| fields.get("unit"));
    let Some((_, of)) = TYPES.iter().find(|(of, _)| *of == name) else {
        return unknown(node, name);
    };
    let of = match (of, unit) {
        (ColumnType::Timestamp(_), Some(unit)) => {
            ColumnType::Timestamp(unit.one_of("unit", &UNITS)?)
        }
        (ColumnType::Timestamp(_), None) => {
            return node.mistake(
                "a timestamp has a unit",
                "the unit is missing",
                format!("write {{ type = \"{text}\", unit = \"s\" }}; the units are s, ms, us, ns"),
            );
        }
        (_, Some(unit)) => {
            return unit.mistake(format!("'{name}' has no unit"), "only a timestamp has one", "");
        }
        (of, None) => *of,
    };
    Some((of, nullable))
}

fn unknown<T>(node: &Node<'_>, name: &str) -> Option<T> {
    match ELSEWHERE.iter().find(|(theirs, _)| name.eq_ignore_ascii_case(theirs)) {
        Some((_, ours)) => node.mistake(
            format!("unknown type '{name}'"),
            format!("it is called '{ours}' here"),
            match name {
                "f32" => "every engine keeps f64, and not every one f32".to_owned(),
                _ => format!("valid: {}", TYPES.map(|(name, _)| name).join(", ")),
            },
        ),
        None => node.log.unknown(node.at.clone(), "type", name, TYPES.map(|(name, _)| name)),
    }
}
