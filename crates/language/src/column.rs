//! The columns of a table.

use embermark_model::choice;
use embermark_model::table::{Column, ColumnType, Field, Make, OwnedValue, TimeUnit, Within};

use crate::constant;
use crate::make;
use crate::names;
use crate::node::{Entry, Fields, Node, did_you_mean};
use crate::rows;

/// Names of types. A timestamp has its unit in addition.
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

/// Largest declared length of a text in characters: the limit of MariaDB's VARCHAR in UTF-8.
const LONGEST_TEXT: u32 = 16_383;

/// Names of types in other languages, by the name here.
const ELSEWHERE: [(&str, &[&str]); 6] = [
    ("bool", &["boolean"]),
    ("bytes", &["blob"]),
    ("f64", &["decimal", "double", "f32", "float", "number", "real"]),
    ("i64", &["int", "integer"]),
    ("text", &["char", "str", "string", "varchar"]),
    ("timestamp", &["date", "datetime", "time"]),
];

const UNITS: [(&str, TimeUnit); 4] = [
    (TimeUnit::Seconds.name(), TimeUnit::Seconds),
    (TimeUnit::Milliseconds.name(), TimeUnit::Milliseconds),
    (TimeUnit::Microseconds.name(), TimeUnit::Microseconds),
    (TimeUnit::Nanoseconds.name(), TimeUnit::Nanoseconds),
];

/// Other names of units.
const SPELLED_UNITS: [(&str, &[&str]); 4] = [
    ("s", &["second", "seconds", "sec"]),
    ("ms", &["millisecond", "milliseconds"]),
    ("us", &["microsecond", "microseconds"]),
    ("ns", &["nanosecond", "nanoseconds"]),
];

/// Returns the name here of a name that is used elsewhere. Ignores case.
fn name_here(elsewhere: &[(&'static str, &[&str])], name: &str) -> Option<&'static str> {
    let is_it = |others: &[&str]| others.iter().any(|other| other.eq_ignore_ascii_case(name));
    elsewhere.iter().find(|(_, others)| is_it(others)).map(|(here, _)| *here)
}

/// How the documents of a table's JSON columns are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text.
    Text,
    /// In the engine's binary form.
    Binary,
    /// Not kept: each field is a column.
    Columns,
}

/// Values of a table's `json`.
pub const FORMS: [(&str, Form); 3] =
    [("text", Form::Text), ("binary", Form::Binary), ("columns", Form::Columns)];

/// Example of a column of JSON documents.
const JSON_EXAMPLE: &str = "{ type = \"json\", fields = { level = \"text?\" } }";

/// Whether it is a column of JSON documents.
pub fn is_json(entry: &Entry<'_>) -> bool {
    let of = entry.node.value.get("type").and_then(|of| of.get_ref().as_str());
    of == Some("json")
}

/// Reads the fields of a column of JSON documents, each a column with its name in the file.
pub fn fields<'a>(
    entry: &Entry<'a>,
    form: Form,
    tables: &[&str],
) -> Option<Vec<(Entry<'a>, Option<Column>)>> {
    let json = entry.node.fields(&["type", "fields", "from"])?;
    let from = json.or("from", entry.name, |node| node.text())?;
    let fields = json.need("fields", JSON_EXAMPLE, |node| node.open())?.entries();
    if fields.is_empty() {
        return json.mistake("a document without fields", format!("write {JSON_EXAMPLE}"));
    }
    let field = |field: Entry<'a>| {
        let column = field_of(entry, &field, from, form, tables);
        (field, column)
    };
    Some(fields.into_iter().map(field).collect())
}

/// Reads one field of a column of JSON documents.
fn field_of(
    entry: &Entry<'_>,
    field: &Entry<'_>,
    from: &str,
    form: Form,
    tables: &[&str],
) -> Option<Column> {
    if !names::is_plain(field.name) {
        let what = format!("'{}' cannot be the name of a field", field.name);
        let label = "letters, digits and underscores, no digit first";
        return field.at_name().labelled(what, label, "");
    }
    let column = read(field, tables)?;
    if column.of == ColumnType::Bytes {
        return field.node.labelled("bytes in a document", "JSON has none", "make it a column");
    }
    let own = Field { names: vec![format!("{from}.{}", field.name)], ..Field::default() };
    let from = match column.from {
        Some(from) if from.names.is_empty() => Field { names: own.names, ..*from },
        Some(from) => *from,
        None => own,
    };
    let within = Within {
        document: entry.name.to_owned(),
        field: field.name.to_owned(),
        binary: form == Form::Binary,
    };
    let within = (form != Form::Columns).then(|| Box::new(within));
    let name = format!("{}_{}", entry.name, field.name);
    let from = column.make.is_none().then(|| Box::new(from));
    Some(Column { name, from, within, ..column })
}

/// Reads a column: `"u16?"`, or a table with the type and more. `tables` are the names of the
/// file's tables.
pub fn read(entry: &Entry<'_>, tables: &[&str]) -> Option<Column> {
    if entry.node.as_text().is_some() {
        return typed(entry.name, &entry.node, None);
    }
    let fields = entry.node.open()?;
    let column =
        fields.need("type", "type = \"u16\"", |node| typed(entry.name, &node, Some(&fields)));
    if fields.get("make").is_some() {
        let absent = fields.or("absent", 0.0, |node| node.share());
        let column = column?;
        let often = fields.maybe("often", |node| often(&node, column.of));
        let late = fields.maybe("late", |node| make::late(&node, column.of));
        let kind = make::read(&fields, column.of, tables);
        let make = Make { kind: kind?, absent: absent?, often: often?, late: late? };
        let nullable = column.nullable || make.absent > 0.0;
        return Some(Column { nullable, make: Some(make), ..column });
    }
    fields.only(&["type", "unit", "from", "format", "absent", "make"]);
    let names = fields.or("from", Vec::new(), |node| rows::texts(&node));
    let format = fields.maybe("format", |node| rows::format(&node));
    let absent = fields.or("absent", (false, None), |node| absence(&node));
    let column = column?;
    let is_time = matches!(column.of, ColumnType::Timestamp(_));
    if let Some(format) = fields.get("format").filter(|_| !is_time) {
        let what = format!("'{}' has no format", entry.name);
        return format.labelled(what, "only a timestamp has one", "");
    }
    let (nullable, absent) = absent?;
    let from = Field { names: names?, format: format?, absent };
    let from = (from != Field::default()).then(|| Box::new(from));
    Some(Column { from, nullable: column.nullable || nullable, ..column })
}

/// Reads whether values may be absent, or the words that mean a missing value in this column.
fn absence(node: &Node<'_>) -> Option<(bool, Option<Vec<String>>)> {
    match node.value.is_bool() {
        true => Some((node.bool()?, None)),
        false => Some((true, Some(rows::texts(node)?))),
    }
}

/// Reads a value that a share of the rows has.
fn often(node: &Node<'_>, of: ColumnType) -> Option<(OwnedValue, f64)> {
    let fields = node.fields(&["value", "share"])?;
    let value = fields.need("value", "value = \"TX\"", |node| constant::read(&node, of));
    let share = fields.need("share", "share = \"40%\"", |node| node.share());
    Some((value?, share?))
}

/// Reads a column's type. A trailing `?` means that values may be absent.
fn typed(name: &str, node: &Node<'_>, beside: Option<&Fields<'_>>) -> Option<Column> {
    let text = node.text()?;
    let plain = text.strip_suffix('?').unwrap_or(text);
    let (plain, longest) = match plain.strip_prefix("text(").and_then(|rest| rest.strip_suffix(')'))
    {
        Some(longest) => match longest.trim().parse::<u32>() {
            Ok(longest @ 1..=LONGEST_TEXT) => ("text", Some(longest)),
            _ => {
                let help = format!("write for example text(25), of 1 to {LONGEST_TEXT} characters");
                return node.mistake(format!("'{longest}' is not a number of characters"), help);
            }
        },
        None => (plain, None),
    };
    let unit = beside.and_then(|fields| fields.get("unit"));
    let Some((_, of)) = TYPES.iter().find(|(of, _)| *of == plain) else {
        let _ = unit.map(|unit| unit_of_time(&unit));
        return unknown(node, plain, text);
    };
    let of = match (of, unit) {
        (ColumnType::Timestamp(_), Some(unit)) => ColumnType::Timestamp(unit_of_time(&unit)?),
        (ColumnType::Timestamp(_), None) => {
            return node.labelled(
                "a timestamp has a unit",
                "the unit is missing",
                format!("write {{ type = \"{text}\", unit = \"s\" }}; the units are s, ms, us, ns"),
            );
        }
        (_, Some(unit)) => {
            return unit.labelled(format!("'{plain}' has no unit"), "only a timestamp has one", "");
        }
        (of, None) => *of,
    };
    Some(Column { longest, nullable: text.ends_with('?'), ..Column::new(name, of) })
}

/// Reads the unit of a timestamp.
fn unit_of_time(node: &Node<'_>) -> Option<TimeUnit> {
    let text = node.text()?;
    match name_here(&SPELLED_UNITS, text) {
        Some(ours) => node.labelled(
            format!("unknown unit '{text}'"),
            format!("it is called '{ours}' here"),
            format!("valid: {}", UNITS.map(|(name, _)| name).join(", ")),
        ),
        None => node.one_of("unit", &UNITS),
    }
}

/// Adds the mistake that there is no such type. `name` is the text without a trailing `?`.
fn unknown<T>(node: &Node<'_>, name: &str, text: &str) -> Option<T> {
    if name == "json" {
        let help = format!("write {JSON_EXAMPLE}");
        return node.mistake("a document needs a list of its fields", help);
    }
    let valid = TYPES.map(|(name, _)| name);
    let help = format!("valid: {}", valid.join(", "));
    if let Some(ours) = name_here(&ELSEWHERE, name) {
        let help = match name {
            "f32" => "every engine keeps f64, and not every one f32".to_owned(),
            _ => help,
        };
        let label = format!("it is called '{ours}' here");
        return node.labelled(format!("unknown type '{name}'"), label, help);
    }
    let mark = &text[name.len()..];
    let nearest = choice::nearest(name.trim(), valid).map(|nearest| format!("{nearest}{mark}"));
    node.labelled(format!("unknown type '{text}'"), did_you_mean(nearest.as_deref()), help)
}
