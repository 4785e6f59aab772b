//! Rows as documents, and conditions as filters.

use embermark_contract::document::{
    CollectionDef, Document, Documents, Field, Filter, Value as Stored,
};
use embermark_language::Operator;
use embermark_model::table::{Table, Value};
use smallvec::SmallVec;

use super::super::access;
use super::super::rows::Source;

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
