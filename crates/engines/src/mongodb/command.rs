//! The parts of commands: filters, keys, documents.

use itoa::Buffer;

use super::bson::Writer;
use crate::document::{CollectionDef, Document, Field, Filter, Value};

/// Where a field of a collection's documents stands in MongoDB's: those of its key under `_id`.
pub(super) fn path<'a>(def: &CollectionDef, field: &'a str, longer: &'a mut String) -> &'a str {
    match (def.key.contains(&field), def.key.len()) {
        (true, 1) => "_id",
        (true, _) => {
            longer.push_str("_id.");
            longer.push_str(field);
            longer
        }
        (false, _) => field,
    }
}

impl Writer {
    /// A key, or the first values of one, as `name`. MongoDB compares documents value by value,
    /// and one that ends earlier stands before the others
    /// (<https://www.mongodb.com/docs/v6.0/reference/bson-type-comparison-order/#objects>).
    pub fn key(&mut self, def: &CollectionDef, name: &str, key: &[Value<'_>]) {
        match (def.key, key) {
            ([_], [value]) => self.value(name, value),
            _ => self.within(name, |id| {
                def.key.iter().zip(key).for_each(|(part, value)| id.value(part, value));
            }),
        }
    }

    /// What belongs to a document: its `_id`, where it has one that is not the server's own, and its
    /// fields. A NULL is left out: an absent field
    /// reads the same and takes no room. Those that are `data.level` follow each other in a document within.
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

    /// A filter as `name`.
    pub fn filter(&mut self, def: &CollectionDef, name: &str, filter: &Filter<'_>) {
        let mut longer = String::new();
        self.within(name, |whole| match filter {
            Filter::All | Filter::Keys { from: [], to: [] } => {}
            Filter::Key(key) => whole.key(def, "_id", key),
            Filter::Keys { from, to } => whole.within("_id", |range| {
                // A range without a bound on one side.
                if !from.is_empty() {
                    range.key(def, "$gte", from);
                }
                if !to.is_empty() {
                    range.key(def, "$lt", to);
                }
            }),
            Filter::Equal(field, value) => whole.value(path(def, field, &mut longer), value),
            Filter::Between { field, from, to } => {
                whole.within(path(def, field, &mut longer), |range| {
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

    /// Which fields an answer holds. None are named when all are wanted, which costs the server
    /// less than picking them.
    pub fn projection(&mut self, def: &CollectionDef, columns: &[&str]) {
        let wants_key = columns.iter().any(|column| def.key.contains(column));
        if (wants_key || def.key.is_empty())
            && def.fields.iter().all(|field| columns.contains(field))
        {
            return;
        }
        // A field may not be named together with one within it.
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

    /// What an update sets, as `name`: a NULL takes the field away, as it is stored.
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

    /// The write concern: one server, which waits for its journal or not; `None` says nothing of it.
    pub fn concern(&mut self, waits: Option<bool>) {
        let Some(waits) = waits else { return };
        self.within("writeConcern", |concern| {
            concern.int32("w", 1);
            concern.bool("j", waits);
        });
    }
}
