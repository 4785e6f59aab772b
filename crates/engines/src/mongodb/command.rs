//! Parts of commands: filters, keys, and documents.

use std::borrow::Cow;

use itoa::Buffer;

use super::bson::Writer;
use crate::document::{CollectionDef, Document, Field, Filter, Value};

/// Returns the path of a field in MongoDB's documents. Fields of the key are under `_id`.
pub(super) fn path<'a>(def: &CollectionDef, field: &'a str) -> Cow<'a, str> {
    match (def.key.contains(&field), def.key.len()) {
        (true, 1) => "_id".into(),
        (true, _) => format!("_id.{field}").into(),
        (false, _) => field.into(),
    }
}

impl Writer {
    /// Writes a key, or the first values of one, as `name`. MongoDB compares documents value by
    /// value, and a shorter one sorts before others with the same beginning
    /// (<https://www.mongodb.com/docs/v6.0/reference/bson-type-comparison-order/#objects>).
    pub fn key(&mut self, def: &CollectionDef, name: &str, key: &[Value<'_>]) {
        match (def.key, key) {
            ([_], [value]) => self.value(name, value),
            _ => self.within(name, |id| {
                def.key.iter().zip(key).for_each(|(part, value)| id.value(part, value));
            }),
        }
    }

    /// Writes a document: its `_id`, unless the server makes it, and its fields. A NULL is left
    /// out, because an absent field reads the same and takes no room. Fields such as `data.level`
    /// are adjacent and become a nested document.
    pub fn document(&mut self, def: &CollectionDef, document: &Document<'_>) {
        if !def.key.is_empty() {
            self.key(def, "_id", document.key);
        }
        let mut within = None;
        for (name, value) in document.fields.iter().filter(|(_, value)| *value != Value::Null) {
            let (of, field) =
                name.split_once('.').map_or((None, *name), |(of, own)| (Some(of), own));
            if within.as_ref().map(|(of, _)| *of) != of {
                if let Some((_, begun)) = within.take() {
                    self.end(begun);
                }
                within = of.map(|of| (of, self.begin_within(of)));
            }
            self.value(field, value);
        }
        if let Some((_, begun)) = within {
            self.end(begun);
        }
    }

    pub fn filter(&mut self, def: &CollectionDef, name: &str, filter: &Filter<'_>) {
        self.within(name, |whole| match filter {
            Filter::All | Filter::Keys { from: [], to: [] } => {}
            Filter::Key(key) => whole.key(def, "_id", key),
            Filter::Keys { from, to } => whole.within("_id", |range| {
                // A range can be unbounded on one side.
                if !from.is_empty() {
                    range.key(def, "$gte", from);
                }
                if !to.is_empty() {
                    range.key(def, "$lt", to);
                }
            }),
            Filter::Equal(field, value) => whole.value(&path(def, field), value),
            Filter::Between { field, from, to } => {
                whole.within(&path(def, field), |range| {
                    range.fields(&[("$gte", *from), ("$lt", *to)]);
                });
            }
            Filter::Every(filters) => whole.list("$and", |list| {
                for (i, filter) in filters.iter().enumerate() {
                    list.filter(def, Buffer::new().format(i), filter);
                }
            }),
        });
    }

    /// Writes which fields an answer has. None are named if all are wanted, which costs the server
    /// less than selecting them.
    pub fn projection(&mut self, def: &CollectionDef, columns: &[&str]) {
        let wants_key = columns.iter().any(|column| def.key.contains(column));
        if (wants_key || def.key.is_empty())
            && def.fields.iter().all(|field| columns.contains(field))
        {
            return;
        }
        // A field cannot be named together with one nested in it.
        let is_within = |column: &str| {
            let above =
                |other: &&str| column.strip_prefix(other).is_some_and(|r| r.starts_with('.'));
            columns.iter().any(above)
        };
        self.within("projection", |projection| {
            projection.bool("_id", wants_key);
            for (i, column) in columns.iter().enumerate() {
                let is_new = !columns[..i].contains(column);
                if is_new && !def.key.contains(column) && !is_within(column) {
                    projection.bool(column, true);
                }
            }
        });
    }

    /// Writes what an update sets, as `name`. NULL removes the field, as NULLs are stored.
    pub fn changes(&mut self, name: &str, set: &[Field<'_>]) {
        let is_null = |(_, value): &&Field<'_>| *value == Value::Null;
        self.within(name, |changes| {
            changes.within("$set", |values| {
                let present = set.iter().filter(|field| !is_null(field));
                present.for_each(|(name, value)| values.value(name, value));
            });
            if set.iter().any(|field| is_null(&field)) {
                changes.within("$unset", |names| {
                    set.iter().filter(is_null).for_each(|(name, _)| names.bool(name, true));
                });
            }
        });
    }

    /// Writes the write concern: one server, which waits for its journal or not. `None` writes
    /// nothing.
    pub fn concern(&mut self, waits: Option<bool>) {
        let Some(waits) = waits else { return };
        self.within("writeConcern", |concern| {
            concern.int32("w", 1);
            concern.bool("j", waits);
        });
    }
}
