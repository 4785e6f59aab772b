//! Errors about values that do not fit, in rows that are loaded and in rows that are read.

use crate::sql::{Param, SqlType, TableDef};
use crate::{EngineError, Result};

/// Checks that a row to load has a value for each column of its table.
#[inline]
pub(crate) fn check_width(engine: &'static str, to: &TableDef, row: &[Param<'_>]) -> Result<()> {
    if row.len() == to.columns.len() {
        return Ok(());
    }
    let why = format!("it has {} values, the table {} columns", row.len(), to.columns.len());
    Err(EngineError::failed(engine, format!("load a row into {}", to.name), why))
}

/// Returns the error for a value that its column does not accept.
#[cold]
pub(crate) fn not_taken(
    engine: &'static str,
    to: &TableDef,
    column: usize,
    value: Param<'_>,
) -> EngineError {
    let (name, of, _) = to.columns[column];
    let why = match (value, of) {
        (Param::Int(value), SqlType::Int) => format!("{value} does not fit column {name}"),
        _ => format!("{value:?} is not of type {of:?}, which column {name} requires"),
    };
    EngineError::failed(engine, format!("load a row into {}", to.name), why)
}

/// Returns the error for a column that a result with this many columns does not have.
#[cold]
pub(crate) fn no_column(engine: &'static str, column: usize, count: usize) -> EngineError {
    let why = format!("the result has {count} columns");
    EngineError::failed(engine, format!("read column {column} of a row"), why)
}

/// Returns the error for a value, in a column with this name and type, that is not what is
/// `wanted`.
#[cold]
pub(crate) fn not_wanted(
    engine: &'static str,
    column: usize,
    name: &str,
    of: &str,
    wanted: &str,
) -> EngineError {
    let why = format!(
        "its type is {of}, and this value is not of type {wanted}: cast it in the statement"
    );
    EngineError::failed(engine, format!("read column {column} (`{name}`)"), why)
}
