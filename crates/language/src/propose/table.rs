//! A table of the proposed file.

use std::fmt::Write;

use embermark_data::table::InferredColumn;
use embermark_model::table::ColumnType;

use super::shape::Shape;
use super::told::told;
use super::{list, quoted};

/// The longest line that comments of others are aligned with.
const WIDEST: usize = 60;

/// Writes `[table.NAME]`.
pub fn write(text: &mut String, shape: &Shape<'_>) {
    let table = shape.table;
    let names = |key: &[usize]| list(key.iter().map(|place| shape.column(*place)));
    let _ = writeln!(text, "\n[table.{}]", shape.name);
    let file = format!("file = {}", quoted(&table.file.display().to_string()));
    let mut lines = vec![(file, format!("{}, {} rows", table.format, table.rows))];
    lines.extend(
        table.dropped.iter().map(|(reason, rows)| {
            (format!("# {rows} rows more do not fit: {reason}"), String::new())
        }),
    );
    match &shape.key {
        Some(key) => {
            let others: Vec<_> = table.keys.iter().skip(1).take(3).map(|key| names(key)).collect();
            let others = match &others[..] {
                [] => String::new(),
                others => format!("; so would be {}", others.join(", ")),
            };
            lines.push((format!("key = {}", names(key)), format!("unique{others}")));
        }
        None => {
            let why = format!(
                "# No columns were found that are unique together: the key is the number of the \
                 row.\n# If rows have a key, write it here and take the column '{}' out.",
                shape.number,
            );
            lines.push((why, String::new()));
            lines.push((format!("key = {}", list([&*shape.number])), String::new()));
        }
    }
    if let Some(index) = index(shape) {
        let index = format!("index = [{}]", names(&index));
        lines.push((index, "for the newest rows of each".to_owned()));
    }
    aligned(text, &lines);

    let _ = writeln!(text, "\n[table.{}.columns]", shape.name);
    let number = shape.key.is_none().then(|| {
        let column = format!("{} = {{ type = \"u64\", make = \"sequence\" }}", shape.number);
        (column, "the number of the row".to_owned())
    });
    let columns = shape.columns.iter().zip(&table.columns);
    let columns = columns.map(|(name, column)| {
        (format!("{name} = {}", typed(name, column)), told(column, table.rows))
    });
    aligned(text, &number.into_iter().chain(columns).collect::<Vec<_>>());
}

/// An index for the newest rows of each, where the key does not begin with what they are of.
fn index(shape: &Shape<'_>) -> Option<Vec<usize>> {
    let (by, time) = (shape.by?, shape.time?);
    let leads = shape.key.iter().any(|key| key.first() == Some(&by));
    (!leads).then(|| vec![by, time.column])
}

/// Lines with comments behind them, below each other.
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

/// The type of a column, with what stands beside it.
fn typed(name: &str, column: &InferredColumn) -> String {
    let of = quoted(&format!("{}{}", column.of, if column.nullable { "?" } else { "" }));
    let unit = match column.of {
        ColumnType::Timestamp(unit) => format!(", unit = {}", quoted(unit.name())),
        _ => String::new(),
    };
    let from = match name == column.name {
        true => String::new(),
        false => format!(", from = {}", quoted(&column.name)),
    };
    match unit.is_empty() && from.is_empty() {
        true => of,
        false => format!("{{ type = {of}{unit}{from} }}"),
    }
}
