//! The parts of commands: filters, keys, documents.

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
            _ => {
                let id = self.begin(name);
                for (part, value) in def.key.iter().zip(key) {
                    self.value(part, value);
                }
                self.end(id);
            }
        }
    }

    /// What belongs to a document: its `_id` and its fields. A NULL is left out: an absent field
    /// reads the same and takes no room.
    pub fn document(&mut self, def: &CollectionDef, document: &Document<'_>) {
        self.key(def, "_id", document.key);
        for (name, value) in document.fields {
            if *value != Value::Null {
                self.value(name, value);
            }
        }
    }

    /// A filter as `name`.
    pub fn filter(&mut self, def: &CollectionDef, name: &str, filter: &Filter<'_>) {
        let mut longer = String::new();
        let whole = self.begin(name);
        match filter {
            Filter::All => {}
            Filter::Key(key) => self.key(def, "_id", key),
            Filter::Keys { from, to } => {
                let range = self.begin("_id");
                // A range without a bound on one side.
                if !from.is_empty() {
                    self.key(def, "$gte", from);
                }
                if !to.is_empty() {
                    self.key(def, "$lt", to);
                }
                self.end(range);
            }
            Filter::Equal(field, value) => self.value(path(def, field, &mut longer), value),
            Filter::Between { field, from, to } => {
                let range = self.begin(path(def, field, &mut longer));
                self.value("$gte", from);
                self.value("$lt", to);
                self.end(range);
            }
        }
        self.end(whole);
    }

    /// Which fields an answer holds. None are named when all are wanted, which costs the server
    /// less than picking them.
    pub fn projection(&mut self, def: &CollectionDef, columns: &[&str]) {
        let wants_key = columns.iter().any(|column| def.key.contains(column));
        if wants_key && def.fields.iter().all(|field| columns.contains(field)) {
            return;
        }
        let projection = self.begin("projection");
        self.bool("_id", wants_key);
        // A field may not be named together with one within it.
        let is_within = |column: &str| {
            let above =
                |other: &&str| column.strip_prefix(other).is_some_and(|r| r.starts_with('.'));
            columns.iter().any(above)
        };
        for (i, column) in columns.iter().enumerate() {
            let is_new = !columns[..i].contains(column);
            if is_new && !def.key.contains(column) && !is_within(column) {
                self.bool(column, true);
            }
        }
        self.end(projection);
    }

    /// What an update sets, as `name`: a NULL takes the field away, as it is stored.
    pub fn changes(&mut self, name: &str, set: &[Field<'_>]) {
        let changes = self.begin(name);
        let values = self.begin("$set");
        for (name, value) in set.iter().filter(|(_, value)| *value != Value::Null) {
            self.value(name, value);
        }
        self.end(values);
        if set.iter().any(|(_, value)| *value == Value::Null) {
            let absent = self.begin("$unset");
            for (name, _) in set.iter().filter(|(_, value)| *value == Value::Null) {
                self.bool(name, true);
            }
            self.end(absent);
        }
        self.end(changes);
    }

    /// The write concern: one server, which waits for its journal or not.
    pub fn concern(&mut self, waits: bool) {
        let concern = self.begin("writeConcern");
        self.int32("w", 1);
        self.bool("j", waits);
        self.end(concern);
    }
}
