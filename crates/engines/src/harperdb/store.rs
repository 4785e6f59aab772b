//! The document store over HarperDB, by the NoSQL operations of its operations API
//! (<https://docs.harperdb.io/docs/developers/operations-api/nosql-operations>).

mod lifecycle;
mod requests;

use super::dialect::{self, HarperSql};
use super::key::Key;
use super::managed::DATABASE;
use super::session::Session;
use super::{NAME, request};
use crate::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use crate::row::Visit;
use crate::server::Server;
use crate::{EngineError, Result};

/// Number of records of one request, which is one commit. From some hundreds on, more records make
/// it no faster.
const RECORDS: u64 = 1000;

/// A request is sent once its records have this many bytes, however few they are.
const BYTES: usize = 1 << 20;

/// Keys as JSON, one after the other, and where each of them ends.
type Keys = (Vec<u8>, Vec<usize>);

/// An open store. The server is stopped after the session has ended.
pub(super) struct HarperStore {
    session: Session,
    server: Option<Server>,
    dialect: &'static HarperSql,
    collections: Vec<&'static CollectionDef>,
}

impl HarperStore {
    pub fn new(session: Session, server: Option<Server>) -> Self {
        let dialect = match session.http.database.as_str() {
            DATABASE => &dialect::PRIVATE,
            given => HarperSql::for_database(given),
        };
        Self { session, server, dialect, collections: Vec::new() }
    }

    fn def(&self, collection: Collection) -> Result<(&'static CollectionDef, Key)> {
        let def = self.collections.get(collection.0).copied();
        let def = def.ok_or_else(|| {
            EngineError::failed(NAME, "find a collection", "it was not created here")
        })?;
        Ok((def, Key::new(def)))
    }

    /// Sends the records of an insert request, all of which have to be new.
    fn insert_records(&mut self, count: u64) -> Result<u64> {
        self.session.request.raw("]}");
        let inserted = self.session.count()?;
        if inserted == count {
            return Ok(count);
        }
        let why = format!("{} of {count} have keys that are there already", count - inserted);
        Err(EngineError::failed(NAME, "insert documents", why))
    }

    /// Inserts a document by the REST interface.
    fn put(&mut self, def: &CollectionDef, key: Key, document: &Document<'_>) -> Result<()> {
        let Session { request, rest: Some(rest), .. } = &mut self.session else { return Ok(()) };
        request.body.clear();
        key.write(&mut request.body, document.key)?;
        let end = request.body.len();
        record(request, key, document)?;
        let (key, record) = request.body.split_at(end);
        rest.put(def.name, key, record)
    }
}

/// Appends a document as a record.
fn record(request: &mut request::Request, key: Key, document: &Document<'_>) -> Result<()> {
    request.raw("{").text(key.attribute()).raw(":");
    key.write(&mut request.body, document.key)?;
    request.fields(key.extra_fields().iter().copied().zip(document.key.iter().copied()))?;
    request.fields(document.fields.iter().copied())?;
    request.raw("}");
    Ok(())
}

impl DocumentStore for HarperStore {
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        let key = Key::new(def);
        if def.fields.contains(&key.attribute()) {
            let what = format!("a field named {}: it is the key of the document", key.attribute());
            return Err(EngineError::unsupported(NAME, what));
        }
        if def.key.is_empty() {
            let what = "documents that the client gives no key and finds by a date: JSON has \
                        no dates";
            return Err(EngineError::unsupported(NAME, what));
        }
        if def.indexes.iter().any(|fields| fields.len() != 1) {
            return Err(EngineError::unsupported(NAME, "an index of several fields"));
        }
        self.session.drop_table(def.name)?;
        let indexed = |field: &str| def.indexes.contains(&[field].as_slice());
        let by_rest = self.session.rest.is_some();
        let request = self.session.begin("create_table", def.name);
        request.raw(",\"primary_key\":").text(key.attribute());
        // A table whose attributes are named has no others that HarperDB would index unasked:
        // https://docs.harperdb.io/docs/developers/operations-api/databases-and-tables#create-table
        // Without names it takes every attribute that comes by an operation and indexes it, which
        // is its own default. (One that comes by the REST interface it stores but does not know.)
        let mut fields = key.extra_fields().iter().chain(def.fields);
        let by_itself = !def.fields.is_empty() && fields.all(|field| indexed(field)) && !by_rest;
        if !by_itself {
            request.raw(",\"attributes\":[{\"name\":").text(key.attribute()).raw("}");
            for field in key.extra_fields().iter().chain(def.fields) {
                request.raw(",{\"name\":").text(field);
                request.raw(if indexed(field) { ",\"indexed\":true}" } else { "}" });
            }
            request.raw("]");
        }
        request.raw("}");
        self.session.run()?;
        self.collection(def)
    }

    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        if let Some(rest) = &self.session.rest {
            rest.export(def.name)?;
        }
        self.collections.push(def);
        Ok(Collection(self.collections.len() - 1))
    }

    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let (def, key) = self.def(collection)?;
        if self.session.rest.is_some() {
            return self.put(def, key, document);
        }
        let request = self.session.begin("insert", def.name).raw(",\"records\":[");
        record(request, key, document)?;
        self.insert_records(1).map(drop)
    }

    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let (def, key) = self.def(collection)?;
        if self.session.rest.is_some() {
            return self.put(def, key, document);
        }
        match self.update(collection, &Filter::Key(document.key), document.fields)? {
            0 => self.insert(collection, document),
            _ => Ok(()),
        }
    }

    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64> {
        let (def, key) = self.def(collection)?;
        let (mut all, mut count) = (0, 0);
        while let Some(document) = documents.next() {
            let request = match count {
                0 => self.session.begin("insert", def.name).raw(",\"records\":["),
                _ => self.session.request.raw(","),
            };
            record(request, key, &document)?;
            count += 1;
            if count == RECORDS || self.session.request.body.len() > BYTES {
                all += self.insert_records(count)?;
                count = 0;
            }
        }
        Ok(all + if count > 0 { self.insert_records(count)? } else { 0 })
    }

    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let (def, key) = self.def(collection)?;
        if find.limit == Some(0) {
            return Ok(());
        }
        self.search(def, key, &find.filter)?;
        let request = &mut self.session.request;
        request.names(find.columns);
        // A key has at most one document, and a search by key takes neither.
        if !matches!(find.filter, Filter::Key(_)) {
            if find.order != Order::Any {
                let (attribute, down) = match find.order {
                    Order::By(field) => (field, false),
                    Order::ByDescending(field) => (field, true),
                    order => (key.attribute(), order == Order::KeyDescending),
                };
                request.raw(",\"sort\":{\"attribute\":").text(attribute);
                request.raw(if down { ",\"descending\":true}" } else { "}" });
            }
            if let Some(limit) = find.limit {
                request.raw(",\"limit\":").number(limit);
            }
        }
        request.raw("}");
        self.session.rows(find.columns, visit)
    }

    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64> {
        let (def, key) = self.def(collection)?;
        if let Some((field, _)) = set.iter().find(|(name, _)| key.has(name)) {
            let what = format!("setting {field}, which is part of the key");
            return Err(EngineError::unsupported(NAME, what));
        }
        let change = ("update", def.name, ",\"records\":[");
        let keys = match filter {
            Filter::Key(values) => one_key(key, values)?,
            filter => self.keys(def, key, filter)?,
        };
        self.for_keys(change, &keys, |request, id| {
            request.raw("{").text(key.attribute()).raw(":").raw(id);
            request.fields(set.iter().copied())?;
            request.raw("}");
            Ok(())
        })
    }

    /// Looks up first what exists, even by key: `delete` counts keys that do not exist as deleted.
    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64> {
        let (def, key) = self.def(collection)?;
        let keys = self.keys(def, key, filter)?;
        let change = ("delete", def.name, ",\"ids\":[");
        self.for_keys(change, &keys, |request, id| {
            request.raw(id);
            Ok(())
        })
    }

    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>> {
        let (def, _) = self.def(collection)?;
        self.session.begin("describe_table", def.name).raw("}");
        let table = self.session.answer()?;
        let attributes = table["attributes"].as_array().into_iter().flatten();
        let indexed = attributes.filter(|attribute| attribute["indexed"] == true);
        let names = indexed.filter_map(|attribute| attribute["attribute"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    fn language(&self) -> Language {
        Language::Sql(self.dialect)
    }

    fn query(
        &mut self,
        _: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.session.request.begin_plain("sql").raw(",\"sql\":").text(question).raw("}");
        self.session.rows(columns, visit)
    }
}

/// Returns the only key in a list of keys.
fn one_key(key: Key, values: &[Value<'_>]) -> Result<Keys> {
    let mut json = Vec::new();
    key.write(&mut json, values)?;
    let end = json.len();
    Ok((json, vec![end]))
}
