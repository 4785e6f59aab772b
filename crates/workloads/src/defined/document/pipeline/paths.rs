//! Paths of columns in documents.

use std::borrow::Cow;

use embermark_model::table::{Column, Table, Within};

/// Returns the path of a column in the documents of a table.
pub(in super::super) fn path(table: &Table, column: usize) -> String {
    let name = field_name(&table.columns[column]);
    match (table.key.contains(&column), table.key.len()) {
        (true, 1) => "_id".to_owned(),
        (true, _) => format!("_id.{name}"),
        (false, _) => name.into_owned(),
    }
}

/// Returns the expression for a column. For a field of a document it reads the document and takes
/// the field: for a path to the field the server would first create a document with only this
/// field.
pub(super) fn read(table: &Table, column: usize) -> String {
    match table.columns[column].within.as_deref() {
        Some(Within { document, field, .. }) => {
            format!(r#"{{"$getField": {{"field": "{field}", "input": "${document}"}}}}"#)
        }
        None => format!(r#""${}""#, path(table, column)),
    }
}

/// Returns the name of a column outside the key: `data.level` for a field of a document.
pub(in super::super) fn field_name(column: &Column) -> Cow<'_, str> {
    match column.within.as_deref() {
        Some(Within { document, field, .. }) => Cow::Owned(format!("{document}.{field}")),
        None => Cow::Borrowed(&column.name),
    }
}

/// Returns the paths of all columns of a table.
pub(in super::super) fn paths(table: &Table) -> Vec<String> {
    (0..table.columns.len()).map(|column| path(table, column)).collect()
}
