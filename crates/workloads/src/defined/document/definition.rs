//! Tables as collections: their fields and indexes, and which tables cannot be collections.

use std::borrow::Cow;

use embermark_contract::document::{CollectionDef, Language};
use embermark_model::table::{Column, ColumnType, Table, Value};

use super::super::table_rows::Rows;
use super::pipeline;

/// Largest integer, of either sign, up to which a double represents every integer.
const EXACT: i64 = 1 << 53;

/// Returns why a table cannot be a collection, if it cannot.
pub(super) fn refused(rows: &Rows, language: Language) -> Option<String> {
    let is_binary = |column: &Column| column.within.as_ref().is_some_and(|own| own.binary);
    if rows.table.columns.iter().any(is_binary) {
        return Some("JSON in another form than its own".to_owned());
    }
    if matches!(language, Language::Pipeline) {
        return None;
    }
    // HarperDB stores JSON.
    for (column, def) in rows.table.columns.iter().enumerate() {
        let name = &def.name;
        if def.of == ColumnType::Bytes {
            return Some(format!("bytes, as {name} has: JSON has none"));
        }
        for extreme in [rows.staged.least(column), rows.staged.greatest(column)] {
            if let Value::Int(int) = extreme
                && !(-EXACT..=EXACT).contains(&int)
            {
                return Some(format!("{int}, as {name} has: its integers are exact up to 53 bits"));
            }
        }
    }
    None
}

/// Returns the definition of a collection. It is never freed, because the process has one workload.
pub(super) fn definition(table: &'static Table, language: Language) -> &'static CollectionDef {
    let names = |columns: &[usize]| -> &'static [&'static str] {
        let names = columns.iter().map(|column| name(&table.columns[*column], language));
        Vec::leak(names.collect())
    };
    let beside = (0..table.columns.len()).filter(|column| !table.key.contains(column));
    let mut indexes: Vec<&'static [&'static str]> = Vec::new();
    for index in &table.indexes {
        // HarperDB has indexes of one field, and one on the key.
        let index = match language {
            Language::Sql(_) if table.key == index[..1] => continue,
            Language::Sql(_) => names(&index[..1]),
            Language::Pipeline => names(index),
        };
        if !indexes.contains(&index) {
            indexes.push(index);
        }
    }
    Box::leak(Box::new(CollectionDef {
        name: &table.name,
        key: names(&table.key),
        indexes: Vec::leak(indexes),
        fields: names(&beside.collect::<Vec<_>>()),
    }))
}

pub(super) fn names(table: &'static Table, language: Language) -> Vec<&'static str> {
    table.columns.iter().map(|column| name(column, language)).collect()
}

/// Returns the name of a column in a document. If a store cannot query within a field, the column
/// is a top-level field.
pub(super) fn name(column: &'static Column, language: Language) -> &'static str {
    match (language, pipeline::paths::field_name(column)) {
        (Language::Pipeline, Cow::Owned(path)) => path.leak(),
        _ => &column.name,
    }
}
