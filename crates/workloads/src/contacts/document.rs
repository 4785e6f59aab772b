//! Contacts in a document store.

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Order,
    Value,
};
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::contacts::Contact;
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;

use super::phase::Column;
use super::port::{AddressBook, COLUMNS, Changes, Stored};
use crate::Strategy;
use crate::reopenable::Reopenable;
use crate::row_source::RowSource;

static CONTACTS: CollectionDef = CollectionDef {
    name: "contacts",
    key: &["id"],
    indexes: &[&["state"]],
    fields: &["lastname", "firstname", "street", "city", "state", "zip", "country", "phone"],
};

/// The collection. The data model has no transactions over several documents, so every document
/// inserted one by one is a commit, whatever the strategy.
pub(super) struct DocumentBook {
    store: Reopenable<dyn DocumentStore>,
    collection: Collection,
    /// Ids found, to be changed one by one.
    found: Vec<i64>,
}

impl DocumentBook {
    /// Of a collection that holds at most so many documents.
    pub(super) fn new(mut store: Reopenable<dyn DocumentStore>, rows: usize) -> Result<Self> {
        let collection = store.create(&CONTACTS)?;
        Ok(Self { store, collection, found: Vec::with_capacity(rows) })
    }

    /// Finds the ids of the documents chosen by a field, then changes each by itself; how many were
    /// changed.
    fn one_by_one(
        &mut self,
        by: Column,
        meter: &mut Meter,
        mut change: impl FnMut(&mut dyn DocumentStore, Collection, Filter<'_>) -> Result<u64>,
    ) -> Result<Option<u64>> {
        let Self { store, collection, found } = self;
        found.clear();
        let find = Find { filter: chosen(by), order: Order::Any, limit: None, columns: &["id"] };
        store.find(*collection, &find, &mut |row| {
            found.extend(row.int(0)?);
            Ok(())
        })?;
        let mut changed = 0;
        meter.each(found.len() as u64, |i| {
            let key = [Value::Int(found[i])];
            changed += change(&mut **store, *collection, Filter::Key(&key))?;
            Ok::<_, EngineError>(())
        })?;
        Ok(Some(changed))
    }

    fn read(&mut self, filter: Filter<'_>) -> Result<Checksum> {
        let find = Find { filter, order: Order::Any, limit: None, columns: &COLUMNS };
        let mut found = Checksum::default();
        self.store.find(self.collection, &find, &mut |row| {
            found += Stored::in_row(row)?.fingerprint();
            Ok(())
        })?;
        Ok(found)
    }
}

const fn chosen(by: Column) -> Filter<'static> {
    Filter::Equal(by.name(), Value::Text(by.chosen()))
}

type Fields<'a> = [Field<'a>; 8];

fn fields(contact: &Contact) -> ([Value<'_>; 1], Fields<'_>) {
    let texts = Stored::of(contact).texts;
    let fields = std::array::from_fn(|at| (CONTACTS.fields[at], Value::Text(texts[at])));
    ([Value::Int(contact.id)], fields)
}

struct ContactDocuments<'a> {
    source: RowSource<'a, Contact>,
    next: ([Value<'a>; 1], Fields<'a>),
}

impl Documents for ContactDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.next = fields(self.source.advance()?);
        Some(Document { key: &self.next.0, fields: &self.next.1 })
    }
}

impl AddressBook for DocumentBook {
    fn clear(&mut self) -> Result<()> {
        self.collection = self.store.create(&CONTACTS)?;
        Ok(())
    }

    fn open_close(&mut self, id: i64) -> Result<Checksum> {
        self.reopen()?;
        self.read(Filter::Key(&[Value::Int(id)]))
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn insert(&mut self, contacts: &[Contact], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let source = RowSource::new(contacts, None, meter);
            let next = ([Value::Null], [("", Value::Null); 8]);
            let mut documents = ContactDocuments { source, next };
            let inserted = self.store.bulk(self.collection, &mut documents)?;
            documents.source.count_given();
            return Ok(inserted);
        }
        meter.each(contacts.len() as u64, |i| {
            let (key, fields) = fields(&contacts[i]);
            self.store.insert(self.collection, &Document { key: &key, fields: &fields })
        })
    }

    fn select(&mut self, by: Column) -> Result<Checksum> {
        self.read(chosen(by))
    }

    fn update(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        let set = [(by.sets().name(), Value::Text(by.sets().fresh()))];
        if how == Changes::RowByRow {
            return self.one_by_one(by, meter, |store, collection, id| {
                store.update(collection, &id, &set)
            });
        }
        self.store.update(self.collection, &chosen(by), &set).map(Some)
    }

    fn delete(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        if how == Changes::RowByRow {
            return self
                .one_by_one(by, meter, |store, collection, id| store.delete(collection, &id));
        }
        self.store.delete(self.collection, &chosen(by)).map(Some)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let filter = Filter::All;
        let find = Find { filter, order: Order::Any, limit: None, columns: &COLUMNS };
        self.store.find(self.collection, &find, &mut |row| {
            visit(&Stored::in_row(row)?);
            Ok(())
        })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
