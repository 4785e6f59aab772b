//! Checks the tables of a workload file against an engine's limits.

use embermark_contract::sql::SqlType;
use embermark_contract::{EngineError, Limits, Result, TextOrder};
use embermark_model::table::{Column, Table, Value};

use super::sql::sql_type;
use super::{Cell, Codec, Rows};

/// Checks the tables of a file against an engine's limits.
///
/// # Errors
/// Unsupported, with the first table that exceeds a limit.
pub(super) fn check(limits: &Limits, cell: &Cell) -> Result<()> {
    let at_most = |most: Option<usize>, count: usize, what: String| match most {
        Some(most) if count > most => refused(limits, cell, &what, most),
        _ => Ok(()),
    };
    for Rows { table, .. } in &cell.tables {
        let Table { name, columns, key, indexes, .. } = table;
        if let Some(prefix) = limits.reserved_prefix
            && name.to_lowercase().starts_with(prefix)
        {
            let (engine, manual) = (&cell.engine, limits.manual);
            let why = format!(
                "{engine} reserves names of tables that begin with '{prefix}', as '{name}' does ({manual})"
            );
            return Err(EngineError::impossible(why));
        }
        let count = columns.len();
        at_most(limits.columns, count, format!("the table '{name}' has {count} columns"))?;
        let count = indexes.len();
        at_most(limits.indexes, count, format!("the table '{name}' has {count} indexes"))?;
        let longest = indexes.iter().chain([key]).map(Vec::len).max().unwrap_or_default();
        let what = format!("a key or an index of the table '{name}' has {longest} columns");
        at_most(limits.key_columns, longest, what)?;
        let bytes = row_bytes(columns, limits.marks_every_column);
        let what = format!("the numbers of a row of '{name}' have {bytes} bytes");
        at_most(limits.row_bytes, bytes, what)?;
    }
    for rows in &cell.tables {
        let Table { name, key, indexes, .. } = rows.table;
        let of_indexes = indexes.concat();
        for (place, most, columns) in
            [("key", limits.key_text, key), ("index", limits.index_text, &of_indexes)]
        {
            if columns.iter().any(|at| !is_in_order(rows, *at, limits.text_order)) {
                let engine = &cell.engine;
                let other = match limits.text_order {
                    TextOrder::Utf16 => "by UTF-16 (characters beyond U+FFFF, and from U+E000 on)",
                    _ => "without the blanks at their ends (beside control characters)",
                };
                return Err(EngineError::impossible(format!(
                    "{engine} orders the texts in the {place} of '{name}' {other}, not by their \
                     bytes"
                )));
            }
            if most.is_none() {
                continue;
            }
            let length = |at: &usize| longest_text(rows, *at, limits.in_characters);
            let longest = columns.iter().map(length).max().unwrap_or_default();
            let unit = if limits.in_characters { "characters" } else { "bytes" };
            let what = format!("a text in the {place} of '{name}' has {longest} {unit}");
            at_most(most, longest, what)?;
        }
    }
    let all: usize = cell.tables.iter().map(|rows| 1 + rows.table.indexes.len()).sum();
    at_most(limits.tables, all, format!("there are {all} tables and indexes"))
}

/// Returns the bytes of a row's numbers as SQL engines store them, and of the marks of absent
/// values.
fn row_bytes(columns: &[Column], marks_every_column: bool) -> usize {
    let width = |column: &Column| match sql_type(column.of) {
        SqlType::Int => 4,
        SqlType::Big | SqlType::Double => 8,
        SqlType::Text | SqlType::Bytes => 0,
    };
    let absent = columns.iter().filter(|column| marks_every_column || column.nullable).count();
    columns.iter().map(width).sum::<usize>() + absent.div_ceil(8)
}

/// Returns whether this order of a column's texts or byte strings is that of their bytes.
fn is_in_order(rows: &Rows, column: usize, order: TextOrder) -> bool {
    let text = |place| match rows.value(place, column) {
        Value::Text(text) => Some(text.as_bytes()),
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    };
    let texts = || (0..rows.staged.rows()).filter_map(text);
    if !texts().any(|text| order.concerns(text)) {
        return true;
    }
    let mut sorted: Vec<&[u8]> = texts().collect();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| order.compare(a, b).is_le())
}

/// Returns the length of a column's longest text or byte string, in bytes or in characters.
fn longest_text(rows: &Rows, column: usize, in_characters: bool) -> usize {
    let characters = |place| match rows.value(place, column) {
        Value::Text(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    match in_characters {
        true => (0..rows.staged.rows()).map(characters).max().unwrap_or_default(),
        false => rows.longest(column, rows.staged.rows()),
    }
}

/// Checks the longest encoded key of each table against the limit of a key-value store.
///
/// # Errors
/// Unsupported, with the first table that has a longer key.
pub(super) fn check_keys(limits: &Limits, cell: &Cell, codecs: &[Codec]) -> Result<()> {
    let Some(most) = limits.key_bytes else { return Ok(()) };
    for (rows, codec) in cell.tables.iter().zip(codecs) {
        let mut key = Vec::new();
        let lengths = (0..rows.staged.rows()).map(|place| {
            codec.key(rows.key(place), &mut key);
            key.len()
        });
        let longest = codec.key_length.or_else(|| lengths.max()).unwrap_or_default();
        let longest = longest + codec.longest_index();
        if longest > most {
            let name = &rows.table.name;
            let what = format!("a key or an index of the table '{name}' has {longest} bytes");
            return refused(limits, cell, &what, most);
        }
    }
    Ok(())
}

fn refused(limits: &Limits, cell: &Cell, what: &str, most: usize) -> Result<()> {
    let (engine, manual) = (&cell.engine, limits.manual);
    Err(EngineError::impossible(format!("{what}, and {engine} takes {most} at most ({manual})")))
}
