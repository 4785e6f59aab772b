//! Whether an engine holds the tables of a workload file, by the limits that it states.

use embermark_contract::{EngineError, Limits, Result};
use embermark_model::table::Table;

use super::cell::{Cell, Rows};
use super::codec::Codec;

/// Compares the tables of a file with an engine's limits.
///
/// # Errors
/// Unsupported, by the first table that is beyond one.
pub(super) fn check(limits: &Limits, cell: &Cell) -> Result<()> {
    let refused = |what: String, most: usize| refused(limits, cell, &what, most);
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
        if let Some(most) = limits.columns.filter(|most| columns.len() > *most) {
            return refused(format!("the table '{name}' has {} columns", columns.len()), most);
        }
        if let Some(most) = limits.indexes.filter(|most| indexes.len() > *most) {
            return refused(format!("the table '{name}' has {} indexes", indexes.len()), most);
        }
        let longest = indexes.iter().chain([key]).map(Vec::len).max().unwrap_or_default();
        if let Some(most) = limits.key_columns.filter(|most| longest > *most) {
            let what = format!("a key or an index of the table '{name}' has {longest} columns");
            return refused(what, most);
        }
    }
    let all: usize = cell.tables.iter().map(|rows| 1 + rows.table.indexes.len()).sum();
    if let Some(most) = limits.tables.filter(|most| all > *most) {
        return refused(format!("there are {all} tables and indexes"), most);
    }
    Ok(())
}

/// Compares the longest key of each table, as our coding has it, with what a key-value store takes.
///
/// # Errors
/// Unsupported, by the first table with a longer one.
pub(super) fn check_keys(limits: &Limits, cell: &Cell, codecs: &[Codec]) -> Result<()> {
    let Some(most) = limits.key_bytes else { return Ok(()) };
    for (rows, codec) in cell.tables.iter().zip(codecs) {
        let longest = codec.key_length().unwrap_or_else(|| longest_key(rows, codec));
        let longest = longest + codec.longest_index();
        if longest > most {
            let name = &rows.table.name;
            let what = format!("a key or an index of the table '{name}' has {longest} bytes");
            return refused(limits, cell, &what, most);
        }
    }
    Ok(())
}

fn longest_key(rows: &Rows, codec: &Codec) -> usize {
    let mut key = Vec::new();
    let lengths = (0..rows.staged.rows()).map(|place| {
        codec.key(rows.key(place), &mut key);
        key.len()
    });
    lengths.max().unwrap_or_default()
}

fn refused(limits: &Limits, cell: &Cell, what: &str, most: usize) -> Result<()> {
    let (engine, manual) = (&cell.engine, limits.manual);
    Err(EngineError::impossible(format!("{what}, and {engine} takes {most} at most ({manual})")))
}
