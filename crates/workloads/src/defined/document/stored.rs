//! Tables as collections, rows as documents, and conditions as filters.

use std::borrow::Cow;

use embermark_contract::document::{
    CollectionDef, Document, Documents, Field, Filter, Language, Value as Stored,
};
use embermark_language::Operator;
use embermark_model::table::{Column, ColumnType, Table, Value};
use smallvec::SmallVec;

use super::super::documents::has_binary;
use super::super::rows::Source;
use super::super::{Rows, access};
use super::pipeline;

/// Values of a key.
pub(super) type Key<'a> = SmallVec<[Stored<'a>; 4]>;

/// Fields of a document.
pub(super) type Fields<'a> = SmallVec<[Field<'a>; 12]>;

#[inline]
pub(super) const fn stored(value: Value<'_>) -> Stored<'_> {
    match value {
        Value::Null => Stored::Null,
        Value::Int(value) => Stored::Int(value),
        Value::Float(value) => Stored::Float(value),
        Value::Text(text) => Stored::Text(text),
        Value::Bytes(bytes) => Stored::Bytes(bytes),
    }
}

/// Returns conditions as filters of the store, if all are equalities with fields outside the key.
pub(super) fn equalities<'a>(
    table: &Table,
    names: &[&'static str],
    filters: &[access::Filter<'a>],
) -> Option<SmallVec<[Filter<'a>; 4]>> {
    let each = filters.iter().map(|filter| {
        let is_equality = filter.operator == Operator::Equal && !table.key.contains(&filter.column);
        is_equality.then(|| Filter::Equal(names[filter.column], stored(filter.bound)))
    });
    each.collect()
}

/// Returns the key and the other fields of a row. `get` returns its columns.
pub(super) fn key_and_fields<'a>(
    table: &Table,
    def: &'static CollectionDef,
    get: impl Fn(usize) -> Value<'a>,
) -> (Key<'a>, Fields<'a>) {
    let key = table.key.iter().map(|column| stored(get(*column)));
    let beside = (0..table.columns.len()).filter(|column| !table.key.contains(column));
    let fields = def.fields.iter().zip(beside).map(|(name, column)| (*name, stored(get(column))));
    (key.collect(), fields.filter(|(_, value)| *value != Stored::Null).collect())
}

/// Rows as documents for a bulk load.
pub(super) struct Feed<'a> {
    pub(super) source: Source<'a>,
    pub(super) def: &'static CollectionDef,
    pub(super) key: Key<'a>,
    pub(super) fields: Fields<'a>,
}

impl Documents for Feed<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let (rows, place) = self.source.advance()?;
        let get = |column| rows.value(place, column);
        (self.key, self.fields) = key_and_fields(rows.table, self.def, get);
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

/// Largest integer, of either sign, up to which a double represents every integer.
const EXACT: i64 = 1 << 53;

/// Returns why a table cannot be a collection, if it cannot.
pub(super) fn refused(rows: &Rows, language: Language) -> Option<String> {
    if has_binary(rows.table) {
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
    match (language, pipeline::values::field_name(column)) {
        (Language::Pipeline, Cow::Owned(path)) => path.leak(),
        _ => &column.name,
    }
}
