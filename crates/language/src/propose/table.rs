//! Writes a table of the proposed file.

use std::fmt::Write;

use embermark_data::table::{Inferred, InferredColumn};
use embermark_model::table::{ColumnType, Literal};

use super::column_summary::column_summary;
use super::shape::Shape;
use super::{list, quoted};

/// Longest line with which comments are aligned.
const WIDEST: usize = 60;

/// Writes `[table.NAME]`.
pub fn write(text: &mut String, shape: &Shape<'_>) {
    let table = shape.table;
    let names = |key: &[usize]| list(key.iter().map(|place| shape.column(*place)));
    let _ = writeln!(text, "\n[table.{}]", shape.name);
    let mut lines = source(table);
    if let Some(nearly) = &table.near_key {
        let (first, second) = &nearly.first;
        let why = format!(
            "# Unique but for {}, first {first} and {second}: the last of each is kept.",
            rows_text(nearly.rows)
        );
        lines.extend([why, "keep = \"last\"".to_owned()].map(plain));
    }
    match &shape.key {
        Some(key) => {
            let others: Vec<_> = table.keys.iter().skip(1).take(3).map(|key| names(key)).collect();
            let others = match &others[..] {
                [] => String::new(),
                others => format!("; so would be {}", others.join(", ")),
            };
            let unique = if table.near_key.is_some() { "nearly unique" } else { "unique" };
            lines.push((format!("key = {}", names(key)), format!("{unique}{others}")));
        }
        None => {
            let why = format!(
                "# No columns were found that are unique together: the key is the number of the \
                 row.\n# If rows have a key, write it here and take the column '{}' out.",
                shape.number,
            );
            lines.extend([why, format!("key = {}", list([&*shape.number]))].map(plain));
        }
    }
    let own = table.schema.as_ref().map(|(_, indexes)| &**indexes).unwrap_or_default();
    let newest = index(shape).filter(|_| table.schema.is_none());
    let all: Vec<_> = own.iter().chain(&newest).map(|index| names(index)).collect();
    if !all.is_empty() {
        let why =
            if newest.is_some() { "for the newest rows of each" } else { "as the database has" };
        lines.push((format!("index = [{}]", all.join(", ")), why.to_owned()));
    }
    aligned(text, &lines);

    let _ = writeln!(text, "\n[table.{}.columns]", shape.name);
    let number = shape.key.is_none().then(|| {
        let column = format!("{} = {{ type = \"u64\", make = \"sequence\" }}", shape.number);
        (column, "the number of the row".to_owned())
    });
    let columns = shape.columns.iter().zip(&table.columns);
    let columns = columns.map(|(name, column)| {
        (format!("{name} = {}", typed(name, column)), column_summary(column))
    });
    aligned(text, &number.into_iter().chain(columns).collect::<Vec<_>>());
}

/// Returns where the rows come from, and how they are read.
fn source(table: &Inferred) -> Vec<(String, String)> {
    let from = &table.from;
    let file = match &from.files[..] {
        [] => None,
        [one] => Some(quoted(one)),
        several => Some(texts(several)),
    };
    let options = from.read.iter().map(|(name, value)| format!("{name} = {}", option(value)));
    let options = options.collect::<Vec<_>>().join(", ");
    let lines = [
        file.map(|file| format!("file = {file}")),
        from.query.as_deref().map(|query| format!("query = {}", quoted(query))),
        (!from.read.is_empty()).then(|| format!("read = {{ {options} }}")),
    ];
    let mut lines: Vec<_> = lines.into_iter().flatten().map(plain).collect();
    // The first line is the files or the query.
    if let Some((_, comment)) = lines.first_mut() {
        *comment = format!("{}, {}", table.format, rows_text(table.rows));
    }
    if !from.absent.is_empty() {
        let words = format!("absent = {}", texts(&from.absent));
        lines.push((words, "they stand for no value".to_owned()));
    }
    lines.extend(from.zone.as_deref().map(|zone| plain(format!("zone = {}", quoted(zone)))));
    lines.extend(table.dropped.iter().map(|(reason, rows)| {
        let verb = if *rows == 1 { "does" } else { "do" };
        plain(format!("# {} more {verb} not fit: {reason}", rows_text(*rows)))
    }));
    lines.extend(table.notes.iter().map(|note| plain(format!("# {}", one_line(note)))));
    lines
}

/// Returns a line without a comment.
fn plain(line: String) -> (String, String) {
    (line, String::new())
}

/// Formats a list of texts.
fn texts(texts: &[String]) -> String {
    list(texts.iter().map(String::as_str))
}

fn rows_text(rows: u64) -> String {
    format!("{rows} row{}", if rows == 1 { "" } else { "s" })
}

/// Formats the value of an option for TOML.
fn option(value: &Literal) -> String {
    match value {
        Literal::Text(text) => quoted(text),
        Literal::Int(value) => value.to_string(),
        Literal::Float(value) => format!("{value:?}"),
        Literal::Bool(value) => value.to_string(),
        Literal::List(all) => {
            format!("[{}]", all.iter().map(option).collect::<Vec<_>>().join(", "))
        }
        Literal::Map(all) => {
            let all =
                all.iter().map(|(name, value)| format!("{} = {}", quoted(name), option(value)));
            format!("{{ {} }}", all.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Removes line breaks from a text, which would end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Returns an index for the newest rows of each value, if the key does not begin with that column.
fn index(shape: &Shape<'_>) -> Option<Vec<usize>> {
    let (by, time) = (shape.by?, shape.time?);
    let leads = shape.key.iter().any(|key| key.first() == Some(&by));
    (!leads).then(|| vec![by, time.column])
}

/// Writes lines with aligned trailing comments.
fn aligned(text: &mut String, lines: &[(String, String)]) {
    let commented = lines.iter().filter(|(_, comment)| !comment.is_empty());
    let width = commented.map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(WIDEST);
    for (line, comment) in lines {
        let _ = match &**comment {
            "" => writeln!(text, "{line}"),
            comment => writeln!(text, "{line:width$}  # {comment}"),
        };
    }
}

/// Formats the type of a column, with its further keys.
fn typed(name: &str, column: &InferredColumn) -> String {
    let of = quoted(&format!("{}{}", column.of, if column.nullable { "?" } else { "" }));
    let unit = match column.of {
        ColumnType::Timestamp(unit) => Some(quoted(unit.name())),
        _ => None,
    };
    let field = column.from.clone().unwrap_or_default();
    let from = match &field.names[..] {
        [] => (name != column.name).then(|| quoted(&column.name)),
        names => Some(texts(names)),
    };
    let format = field.format.as_deref().map(quoted);
    let absent = field.absent.as_deref().map(texts);
    let keys = [("unit", unit), ("from", from), ("format", format), ("absent", absent)];
    let keys = keys.into_iter().filter_map(|(key, value)| Some(format!(", {key} = {}", value?)));
    let keys: String = keys.collect();
    if keys.is_empty() { of } else { format!("{{ type = {of}{keys} }}") }
}
