//! Definitions from which engines create the tables of a workload file.

use embermark_contract::sql::{Dialect, Nullable, SqlType, TableDef};
use embermark_contract::{EngineError, Result};
use embermark_model::table::{Column, ColumnType, Table};

use super::super::documents::{Document, Stored};
use super::super::port::TimeStep;

/// Returns a table's definition with its columns as they are stored: documents instead of the
/// columns that are their fields.
pub(super) fn with_documents(
    table: &'static Table,
    written: &'static [Stored],
) -> &'static TableDef {
    let columns = written.iter().map(|stored| match stored {
        Stored::Column(column) => of_column(&table.columns[*column]),
        Stored::Document(document) => (&*document.name, SqlType::Text, Nullable::No),
    });
    with_columns(table, &table.name, columns.collect())
}

/// Returns a table's definition with a name and an order of columns. It is never freed, because the
/// process has one workload.
pub(in super::super) fn definition(
    table: &'static Table,
    name: &'static str,
    order: impl IntoIterator<Item = usize>,
) -> &'static TableDef {
    let columns = order.into_iter().map(|column| of_column(&table.columns[column]));
    with_columns(table, name, columns.collect())
}

type ColumnDef = (&'static str, SqlType, Nullable);

fn of_column(column: &'static Column) -> ColumnDef {
    let nullable = if column.nullable { Nullable::Yes } else { Nullable::No };
    (&*column.name, sql_type(column.of), nullable)
}

fn with_columns(
    table: &'static Table,
    name: &'static str,
    columns: Vec<ColumnDef>,
) -> &'static TableDef {
    let key = table.key.iter().map(|column| &*table.columns[*column].name);
    let (columns, key) = (Vec::leak(columns), Vec::leak(key.collect()));
    Box::leak(Box::new(TableDef { name, columns, key }))
}

pub(in crate::defined) const fn sql_type(of: ColumnType) -> SqlType {
    match of {
        ColumnType::Bool | ColumnType::Int { bits: 8 | 16, .. } => SqlType::Int,
        ColumnType::Int { bits: 32, signed: true } => SqlType::Int,
        ColumnType::Int { .. } | ColumnType::Timestamp(_) => SqlType::Big,
        ColumnType::Float => SqlType::Double,
        ColumnType::Text => SqlType::Text,
        ColumnType::Bytes => SqlType::Bytes,
    }
}

/// Returns the name of the partition of a time step.
pub(super) fn partition(step: &TimeStep) -> String {
    format!("part_{}", step.number).replace('-', "m")
}

/// Returns the type of a column of documents.
pub(super) fn document_type(dialect: &dyn Dialect, document: &Document) -> Result<&'static str> {
    let unsupported = |what| EngineError::unsupported("this SQL engine", what);
    let reads = dialect.json_text("a", "b").and(dialect.json_number("a", "b"));
    if reads.is_none() {
        return Err(unsupported("reading the fields of JSON documents"));
    }
    match document.binary {
        true => dialect.binary_json().ok_or_else(|| unsupported("JSON columns of a binary form")),
        false => dialect.json().ok_or_else(|| unsupported("columns of JSON")),
    }
}
