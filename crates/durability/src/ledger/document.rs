//! Documents with the key, the commit and the text.

use std::slice;

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Order,
    Value,
};
use embermark_contract::{EngineError, Lifecycle, Result};

use super::{Ledger, add_row};
use crate::oracle::TableContent;
use crate::work::{Change, Commit, Key, text};

static LEDGER: CollectionDef = CollectionDef {
    name: "ledger",
    key: &["id"],
    indexes: &[],
    fields: &["commitnumber", "content"],
};

pub(super) struct DocumentLedger {
    store: Box<dyn DocumentStore>,
    ledger: Collection,
}

impl DocumentLedger {
    /// Opening a collection does not show whether it existed.
    pub(super) fn new(mut store: Box<dyn DocumentStore>, is_there: bool) -> Result<Self> {
        let opened = if is_there { store.collection(&LEDGER) } else { store.create(&LEDGER) };
        Ok(Self { ledger: opened?, store })
    }

    /// Writes a document that may exist from an interrupted load.
    fn put(&mut self, row: &Row) -> Result<()> {
        let Err(error) = row.with(|document| self.store.insert(self.ledger, document)) else {
            return Ok(());
        };
        match row.with(|document| self.set(document))? {
            1 => Ok(()),
            _ => Err(error),
        }
    }

    /// Rewrites an existing document. Returns the number of matches.
    fn set(&mut self, document: &Document<'_>) -> Result<u64> {
        self.store.update(self.ledger, &Filter::Key(document.key), document.fields)
    }
}

/// Content of a document.
struct Row {
    key: Key,
    commit: u64,
    content: String,
}

impl Row {
    fn new(key: Key, commit: u64) -> Self {
        Self { key, commit, content: text(key, commit) }
    }

    fn fields(&self) -> [Field<'_>; 2] {
        let number = Value::Int(self.commit.cast_signed());
        [("commitnumber", number), ("content", Value::Text(&self.content))]
    }

    fn with<T>(&self, use_it: impl FnOnce(&Document<'_>) -> T) -> T {
        use_it(&Document { key: &[Value::Int(self.key.into())], fields: &self.fields() })
    }
}

/// Documents of a bulk load.
struct BulkDocuments<'a> {
    rows: slice::Iter<'a, Row>,
    key: [Value<'a>; 1],
    fields: [Field<'a>; 2],
}

impl Documents for BulkDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let row = self.rows.next()?;
        (self.key, self.fields) = ([Value::Int(row.key.into())], row.fields());
        Some(Document { key: &self.key, fields: &self.fields })
    }
}

impl Ledger for DocumentLedger {
    fn commit(&mut self, commit: &Commit) -> Result<()> {
        let number = commit.number;
        if commit.bulk {
            let keys = commit.changes.iter().map(|change| change.key());
            let rows: Vec<_> = keys.map(|key| Row::new(key, number)).collect();
            let none = ("content", Value::Null);
            let mut loaded =
                BulkDocuments { rows: rows.iter(), key: [Value::Null], fields: [none, none] };
            return match self.store.bulk(self.ledger, &mut loaded) {
                Ok(_) => Ok(()),
                Err(_) => rows.iter().try_for_each(|row| self.put(row)),
            };
        }
        commit.changes.iter().try_for_each(|change| match change {
            Change::Insert(key) => self.put(&Row::new(*key, number)),
            Change::Update(key) => {
                let found = Row::new(*key, number).with(|document| self.set(document))?;
                expect_one(found, "update")
            }
            Change::Delete(key) => {
                let key = [Value::Int((*key).into())];
                expect_one(self.store.delete(self.ledger, &Filter::Key(&key))?, "delete")
            }
        })
    }

    fn read_all(&mut self) -> Result<TableContent> {
        let mut found = TableContent { table: true, ..TableContent::default() };
        let columns = &["id", "commitnumber", "content"];
        let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
        self.store.find(self.ledger, &find, &mut |row| add_row(&mut found, row))?;
        Ok(found)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Checks that a document to change existed.
fn expect_one(found: u64, doing: &str) -> Result<()> {
    match found {
        1 => Ok(()),
        n => {
            let doing = format!("{doing} a document that is there");
            Err(EngineError::failed("the engine", doing, format!("it found {n}")))
        }
    }
}
