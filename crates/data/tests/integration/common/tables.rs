//! Helpers that the tests of tables share.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;

use embermark_data::DataError;
use embermark_data::table::{Staged, StagedTable, stage};
use embermark_model::table::{Column, ColumnType, OwnedValue, RowsFrom, Table, TimeUnit};
use tempfile::TempDir;

pub const BOOL: ColumnType = ColumnType::Bool;
pub const U16: ColumnType = ColumnType::Int { bits: 16, signed: false };
pub const U64: ColumnType = ColumnType::Int { bits: 64, signed: false };
pub const I64: ColumnType = ColumnType::Int { bits: 64, signed: true };
pub const FLOAT: ColumnType = ColumnType::Float;
pub const TEXT: ColumnType = ColumnType::Text;
pub const BYTES: ColumnType = ColumnType::Bytes;
pub const SECONDS: ColumnType = ColumnType::Timestamp(TimeUnit::Seconds);
pub const MICROS: ColumnType = ColumnType::Timestamp(TimeUnit::Microseconds);

/// A column of a file. A name that ends with '?' may be absent.
pub fn column(name: &str, of: ColumnType) -> Column {
    let nullable = name.ends_with('?');
    let name = name.trim_end_matches('?').to_owned();
    Column { nullable, ..Column::new(name, of) }
}

pub fn table(file: &str, columns: &[(&str, ColumnType)], key: &[usize]) -> Table {
    Table {
        name: "readings".to_owned(),
        columns: columns.iter().map(|&(name, of)| column(name, of)).collect(),
        key: key.to_vec(),
        indexes: Vec::new(),
        rows: RowsFrom::File(Box::new(file.into())),
    }
}

/// A folder with a file of these bytes.
pub fn file(name: &str, bytes: impl AsRef<[u8]>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

/// Stages a table whose file is in a folder.
pub fn staged_with(
    folder: &Path,
    table: Table,
    limit: Option<u64>,
    lenient: f64,
) -> Result<(Staged, StagedTable), DataError> {
    let to = folder.join("staged");
    let staged = stage(&[table], 0, folder, limit, 42, lenient, &to)?;
    let rows = StagedTable::open(&to).unwrap();
    assert_eq!(rows.rows() as u64, staged.rows);
    Ok((staged, rows))
}

pub fn staged(folder: &Path, table: Table) -> (Staged, StagedTable) {
    staged_with(folder, table, None, 1.0).unwrap()
}

/// A row of a staged table.
pub fn row(table: &StagedTable, row: usize) -> Vec<OwnedValue> {
    (0..table.columns()).map(|column| table.value(row, column).to_owned()).collect()
}

pub fn rows(table: &StagedTable) -> Vec<Vec<OwnedValue>> {
    (0..table.rows()).map(|at| row(table, at)).collect()
}

pub fn int(value: i64) -> OwnedValue {
    OwnedValue::Int(value)
}

pub fn float(value: f64) -> OwnedValue {
    OwnedValue::Float(value)
}

pub fn text(value: &str) -> OwnedValue {
    OwnedValue::Text(value.to_owned())
}

pub const NULL: OwnedValue = OwnedValue::Null;
