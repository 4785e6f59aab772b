//! A table and a group for tests of statements.

use embermark_language::{Aggregate, Compute, Group};
use embermark_model::table::{Column, ColumnType, RowsFrom, Table, TimeUnit};

/// Returns a table of `station` (u16), `time` (s), `value` (float), `note` (text), and `raw`
/// (bytes). The last three can be absent.
pub(super) fn table(key: &[usize]) -> &'static Table {
    let columns = [
        ("station", ColumnType::Int { bits: 16, signed: false }),
        ("time", ColumnType::Timestamp(TimeUnit::Seconds)),
        ("value", ColumnType::Float),
        ("note", ColumnType::Text),
        ("raw", ColumnType::Bytes),
    ];
    let column = |(n, (name, of)): (usize, &(&str, ColumnType))| Column {
        nullable: n > 1,
        ..Column::new(*name, *of)
    };
    Box::leak(Box::new(Table {
        name: "readings".to_owned(),
        columns: columns.iter().enumerate().map(column).collect(),
        key: key.to_vec(),
        indexes: Vec::new(),
        rows: RowsFrom::Made(1),
    }))
}

/// Returns the table without bytes.
pub(super) fn without_bytes(key: &[usize]) -> &'static Table {
    let mut table = table(key).clone();
    table.columns.pop();
    Box::leak(Box::new(table))
}

/// Returns a group of all rows without computed values.
pub(super) fn group_of() -> Group {
    Group {
        having: Vec::new(),
        conditions: Vec::new(),
        by: Vec::new(),
        compute: Vec::new(),
        order: Vec::new(),
        limit: None,
    }
}

pub(super) const fn compute(aggregate: Aggregate, column: Option<usize>) -> Compute {
    Compute { aggregate, column }
}
