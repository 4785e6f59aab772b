//! Where columns are in documents.

use std::borrow::Cow;

use embermark_model::table::{Column, Table, Within};

/// Where a column stands in the documents of a table.
pub(in super::super) fn path(table: &Table, column: usize) -> String {
    let name = field_name(&table.columns[column]);
    match (table.key.contains(&column), table.key.len()) {
        (true, 1) => "_id".to_owned(),
        (true, _) => format!("_id.{name}"),
        (false, _) => name.into_owned(),
    }
}

/// A column as an expression. Of a document within the whole is read and the field taken from it: of a path to the field
/// the server would make a document with this field alone first.
pub(super) fn read(table: &Table, column: usize) -> String {
    match table.columns[column].within.as_deref() {
        Some(Within { document, field, .. }) => {
            format!(r#"{{"$getField": {{"field": "{field}", "input": "${document}"}}}}"#)
        }
        None => format!(r#""${}""#, path(table, column)),
    }
}

/// The name of a column beside the key: `data.level` where it is a field of a document.
pub(in super::super) fn field_name(column: &Column) -> Cow<'_, str> {
    match column.within.as_deref() {
        Some(Within { document, field, .. }) => Cow::Owned(format!("{document}.{field}")),
        None => Cow::Borrowed(&column.name),
    }
}

/// Every column of a table's documents.
pub(in super::super) fn paths(table: &Table) -> Vec<String> {
    (0..table.columns.len()).map(|column| path(table, column)).collect()
}
