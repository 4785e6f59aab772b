//! The database behind a session.

mod lifecycle;

use itoa::Buffer;

use super::answer::Document as Answer;
use super::bson::{OpenElement, Writer};
use super::failure::Failure;
use super::pipeline::Pipelines;
use super::row::Columns;
use super::session::Session;
use super::{NAME, command, failed};
use crate::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order,
};
use crate::row::Visit;
use crate::server::Server;
use crate::{EngineError, Result, retry_if};

/// Documents per answer: enough that round trips cost nothing, and few enough that their memory
/// stays in the processor's cache.
const BATCH: i32 = 10_000;

/// Documents sent at once by a load.
const LOADED: usize = 10_000;

/// Bytes sent at once by a load. A command can have 16 MiB
/// (<https://www.mongodb.com/docs/v6.0/reference/limits/#mongodb-limit-BSON-Document-Size>).
const LOADED_BYTES: usize = 8 << 20;

/// Bytes allocated for a command with one document.
const COMMAND: usize = 512;

/// A database of MongoDB. Fields are dropped in order: the session before its server.
pub(super) struct MongoStore {
    session: Session,
    server: Option<Server>,
    /// The current command, in memory that all commands share.
    command: Writer,
    collections: Vec<&'static CollectionDef>,
    pipelines: Pipelines,
    /// Whether a write waits for the journal. `None`: it does not say.
    waits: Option<bool>,
}

impl MongoStore {
    pub fn new(session: Session, server: Option<Server>, waits: Option<bool>) -> Self {
        let (collections, pipelines) = (Vec::new(), Pipelines::default());
        Self { session, server, command: Writer::new(COMMAND), collections, pipelines, waits }
    }

    fn def(&self, collection: Collection) -> Result<&'static CollectionDef> {
        let unknown = || {
            let why = format!("{collection:?} was never created");
            EngineError::failed(NAME, "find a collection", why)
        };
        self.collections.get(collection.0).copied().ok_or_else(unknown)
    }

    fn begin(&mut self, verb: &str, def: &CollectionDef) -> &mut Writer {
        self.command.clear();
        self.command.text(verb, def.name);
        &mut self.command
    }

    /// Runs the current command, which defines something.
    fn define(&mut self, doing: &str) -> Result<()> {
        let done = self.command.finish().and_then(|command| self.session.run(command));
        done.map(|_| ()).map_err(|e| failed(doing, &e))
    }

    /// Runs the current command, which changes documents. Returns their number. A change that is
    /// refused because of another client's is repeated. If some of several were already made, they
    /// set the same values once more.
    fn write(&mut self, doing: &str, def: &CollectionDef) -> Result<u64> {
        self.command.concern(self.waits);
        let Self { session, command, .. } = self;
        let written = command
            .finish()
            .and_then(|command| retry_if(Failure::is_conflict, || session.write(command)));
        written.map_err(|e| failed(format!("{doing} `{}`", def.name), &e))
    }

    /// Runs the current command, which returns documents.
    fn stream(
        &mut self,
        def: &CollectionDef,
        columns: &Columns<'_>,
        visit: &mut Visit<'_>,
        doing: impl Fn() -> String,
    ) -> Result<()> {
        let mut each = |document: Answer<'_>| visit(&columns.row(document)?);
        self.session.stream(&mut self.command, def.name, BATCH, &mut each, doing)
    }

    /// Begins a command that loads documents, unordered, as the manual advises
    /// (<https://www.mongodb.com/docs/v6.0/core/bulk-write-operations/#strategies-for-bulk-inserts-to-a-sharded-collection>).
    fn begin_load(&mut self, def: &CollectionDef) -> OpenElement {
        let command = self.begin("insert", def);
        command.bool("ordered", false);
        command.begin_list("documents")
    }
}

impl DocumentStore for MongoStore {
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        self.begin("drop", def);
        let dropped = self.command.finish().and_then(|command| self.session.run(command));
        match dropped {
            Err(e) if !e.is_of_absence() => return Err(failed(format!("drop `{}`", def.name), &e)),
            _ => {}
        }
        // Ranges of a key of one field are never asked for, and an index finds a single document
        // faster.
        let is_clustered = def.key.len() > 1 && self.session.clusters()?;
        let command = self.begin("create", def);
        if is_clustered {
            command.within("clusteredIndex", |index| {
                index.within("key", |key| key.int32("_id", 1));
                index.bool("unique", true);
            });
        }
        self.define(&format!("create `{}`", def.name))?;
        if !def.indexes.is_empty() {
            indexes(self.begin("createIndexes", def), def);
            self.define(&format!("create the indexes of `{}`", def.name))?;
        }
        self.collection(def)
    }

    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        self.collections.push(def);
        Ok(Collection(self.collections.len() - 1))
    }

    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let def = self.def(collection)?;
        let command = self.begin("insert", def);
        command.list("documents", |documents| {
            documents.within("0", |one| one.document(def, document));
        });
        self.write("insert into", def).map(drop)
    }

    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let def = self.def(collection)?;
        let command = self.begin("update", def);
        command.list("updates", |updates| {
            updates.within("0", |update| {
                update.filter(def, "q", &Filter::Key(document.key));
                update.changes("u", document.fields);
                update.bool("upsert", true);
            });
        });
        self.write("upsert into", def).map(drop)
    }

    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64> {
        let def = self.def(collection)?;
        let (mut loaded, mut count, mut one) = (0, 0, Writer::new(COMMAND));
        let mut list = self.begin_load(def);
        loop {
            let next = documents.next();
            one.clear();
            if let Some(document) = &next {
                one.document(def, document);
            }
            let is_full = count == LOADED || self.command.len() + one.len() > LOADED_BYTES;
            if count > 0 && (is_full || next.is_none()) {
                self.command.end(list);
                loaded += self.write("load", def)?;
                (list, count) = (self.begin_load(def), 0);
            }
            if next.is_none() {
                return Ok(loaded);
            }
            self.command.within(Buffer::new().format(count), |document| document.elements_of(&one));
            count += 1;
        }
    }

    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let def = self.def(collection)?;
        let command = self.begin("find", def);
        command.filter(def, "filter", &find.filter);
        command.projection(def, find.columns);
        let is_one = matches!(find.filter, Filter::Key(_));
        let limit = if is_one { Some(find.limit.unwrap_or(1).min(1)) } else { find.limit };
        match (find.order, is_one) {
            (Order::Any, _) | (_, true) => {}
            (order, false) => {
                let (field, way) = match order {
                    Order::By(field) => (field, 1),
                    Order::ByDescending(field) => (field, -1),
                    Order::KeyDescending => ("_id", -1),
                    _ => ("_id", 1),
                };
                command.within("sort", |sort| sort.int32(field, way));
            }
        }
        let mut batch = BATCH;
        if let Some(limit) = limit {
            if limit == 0 {
                // MongoDB treats this as no limit.
                return Ok(());
            }
            let limit = i32::try_from(limit).map_err(|_| {
                let why = format!("a limit of {limit} is above 2^31 - 1");
                EngineError::failed(NAME, "find documents", why)
            })?;
            command.int32("limit", limit);
            // One more than there can be, so that the server reaches the end with the last of them.
            batch = BATCH.min(limit.saturating_add(1));
        }
        // One document never needs a second answer.
        command.bool("singleBatch", limit == Some(1));
        command.int32("batchSize", batch);
        let columns = Columns::new(def.key, find.columns);
        self.stream(def, &columns, visit, || format!("find in `{}`", def.name))
    }

    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64> {
        let def = self.def(collection)?;
        let command = self.begin("update", def);
        command.list("updates", |updates| {
            updates.within("0", |update| {
                update.filter(def, "q", filter);
                update.changes("u", set);
                update.bool("multi", !matches!(filter, Filter::Key(_)));
            });
        });
        self.write("update", def)
    }

    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64> {
        let def = self.def(collection)?;
        let command = self.begin("delete", def);
        command.list("deletes", |deletes| {
            deletes.within("0", |delete| {
                delete.filter(def, "q", filter);
                delete.int32("limit", i32::from(matches!(filter, Filter::Key(_))));
            });
        });
        self.write("delete from", def)
    }

    fn language(&self) -> Language {
        Language::Pipeline
    }

    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>> {
        let keys = r#"[{"$indexStats": {}}, {"$project": {"key": {"$objectToArray": "$key"}}},
            {"$match": {"key": {"$size": 1}}}, {"$unwind": "$key"}, {"$project": {"field": "$key.k"}}]"#;
        let mut fields = Vec::new();
        self.query(collection, keys, &["field"], &mut |row| {
            fields.extend(row.text(0)?.map(str::to_owned));
            Ok(())
        })?;
        Ok(fields)
    }

    fn query(
        &mut self,
        collection: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let def = self.def(collection)?;
        self.begin("aggregate", def);
        let Self { command, pipelines, .. } = self;
        command.elements(pipelines.element(question)?);
        command.within("cursor", |cursor| cursor.int32("batchSize", BATCH));
        // What exceeds a stage's memory (100 MB) goes to files instead of failing.
        command.bool("allowDiskUse", true);
        self.stream(def, &Columns::new(&[], columns), visit, || format!("answer `{question}`"))
    }
}

fn indexes(command: &mut Writer, def: &CollectionDef) {
    command.list("indexes", |list| {
        for (i, fields) in def.indexes.iter().enumerate() {
            list.within(Buffer::new().format(i), |one| {
                one.within("key", |key| {
                    for field in *fields {
                        key.int32(&command::path(def, field), 1);
                    }
                });
                // Joined names of fields could be those of other fields.
                one.text("name", &format!("index_{i}"));
            });
        }
    });
}
