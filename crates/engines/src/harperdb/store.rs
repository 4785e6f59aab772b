//! The document store over HarperDB, by the NoSQL operations of its operations API
//! (<https://docs.harperdb.io/docs/developers/operations-api/nosql-operations>).

mod lifecycle;
mod requests;

use super::dialect::HarperSql;
use super::session::Session;
use super::{NAME, key, request};
use crate::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order,
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
        let dialect = HarperSql::for_database(&session.http.database);
        Self { session, server, dialect, collections: Vec::new() }
    }

    fn def(&self, collection: Collection) -> Result<&'static CollectionDef> {
        let def = self.collections.get(collection.0).copied();
        def.ok_or_else(|| EngineError::failed(NAME, "find a collection", "it was not created here"))
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
    fn put(&mut self, def: &CollectionDef, document: &Document<'_>) -> Result<()> {
        let Session { request, rest: Some(rest), .. } = &mut self.session else { return Ok(()) };
        request.body.clear();
        key::write(def, &mut request.body, document.key)?;
        let end = request.body.len();
        record(request, def, document)?;
        let (key, record) = request.body.split_at(end);
        rest.put(def.name, key, record)
    }
}

/// Appends a document as a record.
fn record(
    request: &mut request::Request,
    def: &CollectionDef,
    document: &Document<'_>,
) -> Result<()> {
    request.raw("{").json(key::attribute(def)).raw(":");
    key::write(def, &mut request.body, document.key)?;
    request.fields(key::extra_fields(def).iter().copied().zip(document.key.iter().copied()))?;
    request.fields(document.fields.iter().copied())?;
    request.raw("}");
    Ok(())
}

impl DocumentStore for HarperStore {
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        if def.fields.contains(&key::attribute(def)) {
            let name = key::attribute(def);
            let what = format!("a field named {name}: it is the key of the document");
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
        request.raw(",\"primary_key\":").json(key::attribute(def));
        // A table whose attributes are named has no others that HarperDB would index unasked:
        // https://docs.harperdb.io/docs/developers/operations-api/databases-and-tables#create-table
        // Without names it takes every attribute that comes by an operation and indexes it, which
        // is its own default. (One that comes by the REST interface it stores but does not know.)
        let mut fields = key::extra_fields(def).iter().chain(def.fields);
        let by_itself = !def.fields.is_empty() && fields.all(|field| indexed(field)) && !by_rest;
        if !by_itself {
            request.raw(",\"attributes\":[{\"name\":").json(key::attribute(def)).raw("}");
            for field in key::extra_fields(def).iter().chain(def.fields) {
                request.raw(",{\"name\":").json(field);
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
        let def = self.def(collection)?;
        if self.session.rest.is_some() {
            return self.put(def, document);
        }
        let request = self.session.begin("insert", def.name).raw(",\"records\":[");
        record(request, def, document)?;
        self.insert_records(1).map(drop)
    }

    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let def = self.def(collection)?;
        if self.session.rest.is_some() {
            return self.put(def, document);
        }
        match self.update(collection, &Filter::Key(document.key), document.fields)? {
            0 => self.insert(collection, document),
            _ => Ok(()),
        }
    }

    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64> {
        let def = self.def(collection)?;
        let (mut all, mut count) = (0, 0);
        while let Some(document) = documents.next() {
            let request = match count {
                0 => self.session.begin("insert", def.name).raw(",\"records\":["),
                _ => self.session.request.raw(","),
            };
            record(request, def, &document)?;
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
        let def = self.def(collection)?;
        if find.limit == Some(0) {
            return Ok(());
        }
        self.search(def, &find.filter)?;
        let request = &mut self.session.request;
        request.json(find.columns);
        // A key has at most one document, and a search by key takes neither.
        if !matches!(find.filter, Filter::Key(_)) {
            if find.order != Order::Any {
                let (attribute, down) = match find.order {
                    Order::By(field) => (field, false),
                    Order::ByDescending(field) => (field, true),
                    order => (key::attribute(def), order == Order::KeyDescending),
                };
                request.raw(",\"sort\":{\"attribute\":").json(attribute);
                request.raw(if down { ",\"descending\":true}" } else { "}" });
            }
            if let Some(limit) = find.limit {
                request.raw(",\"limit\":").json(&limit);
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
        let def = self.def(collection)?;
        if let Some((field, _)) = set.iter().find(|(name, _)| def.key.contains(name)) {
            let what = format!("setting {field}, which is part of the key");
            return Err(EngineError::unsupported(NAME, what));
        }
        let change = ("update", def.name, ",\"records\":[");
        let keys = match filter {
            Filter::Key(values) => {
                let mut json = Vec::new();
                key::write(def, &mut json, values)?;
                let end = json.len();
                (json, vec![end])
            }
            filter => self.keys(def, filter)?,
        };
        self.for_keys(change, &keys, |request, id| {
            request.raw("{").json(key::attribute(def)).raw(":").raw(id);
            request.fields(set.iter().copied())?;
            request.raw("}");
            Ok(())
        })
    }

    /// Looks up first what exists, even by key: `delete` counts keys that do not exist as deleted.
    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64> {
        let def = self.def(collection)?;
        let keys = self.keys(def, filter)?;
        let change = ("delete", def.name, ",\"ids\":[");
        self.for_keys(change, &keys, |request, id| {
            request.raw(id);
            Ok(())
        })
    }

    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>> {
        let def = self.def(collection)?;
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
        self.session.request.begin_plain("sql").raw(",\"sql\":").json(question).raw("}");
        self.session.rows(columns, visit)
    }
}
