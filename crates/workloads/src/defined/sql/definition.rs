//! What every engine needs to create a table of a workload file.

use embermark_contract::sql::{Nullable, SqlType, TableDef};
use embermark_model::table::{ColumnType, Table};

/// A table by a name, its columns in an order. A definition lives as long as the process, which has one
/// workload.
pub(in super::super) fn definition(
    table: &'static Table,
    name: &'static str,
    order: impl IntoIterator<Item = usize>,
) -> &'static TableDef {
    let columns = order.into_iter().map(|column| {
        let column = &table.columns[column];
        let nullable = if column.nullable { Nullable::Yes } else { Nullable::No };
        (&*column.name, sql_type(column.of), nullable)
    });
    let key = table.key.iter().map(|column| &*table.columns[*column].name);
    Box::leak(Box::new(TableDef {
        name,
        columns: Vec::leak(columns.collect()),
        key: Vec::leak(key.collect()),
    }))
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
