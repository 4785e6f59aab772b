//! The database behind a session.

use embermark_model::Durability;
use mongodb::bson::{Bson, Document as Answer, doc};

use mongodb::error::ErrorKind;

use super::bson::{Writer, index};
use super::pipeline::Pipelines;
use super::row::Columns;
use super::session::Session;
use super::{NAME, command, failed, tier};
use crate::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order,
};
use crate::row::Visit;
use crate::server::{self, Server};
use crate::{Door, Ending, EngineError, Join, Lifecycle, Result, Store};

/// Documents of an answer at a time: enough that the way there and back costs nothing, and the
/// memory of it stays in the processor's cache.
const BATCH: u32 = 10_000;

/// Documents of a bulk load sent at a time.
const LOAD_COUNT: usize = 10_000;

/// Bytes of a bulk load sent at a time. A command may have 16 MiB
/// (<https://www.mongodb.com/docs/v6.0/reference/limits/#mongodb-limit-BSON-Document-Size>).
const LOAD_BYTES: usize = 8 << 20;

/// The server's code for a collection that is not there.
const NAMESPACE_NOT_FOUND: i32 = 26;

/// Room for a command of one document without growing.
const COMMAND: usize = 512;

/// A database of MongoDB. Fields are dropped in order: the session before its server.
pub(super) struct MongoStore {
    session: Session,
    server: Option<Server>,
    collections: Vec<&'static CollectionDef>,
    pipelines: Pipelines,
    durability: Durability,
    /// Whether a write waits for the journal.
    waits: bool,
}

impl MongoStore {
    pub fn new(session: Session, server: Option<Server>, durability: Durability) -> Self {
        let (collections, pipelines) = (Vec::new(), Pipelines::default());
        let waits = tier::waits(durability, session.is_given());
        Self { session, server, collections, pipelines, durability, waits }
    }

    fn def(&self, collection: Collection) -> Result<&'static CollectionDef> {
        let unknown = || {
            let why = format!("{collection:?} was never created");
            EngineError::failed(NAME, "find a collection", why)
        };
        self.collections.get(collection.0).copied().ok_or_else(unknown)
    }

    /// Runs a command that changes documents; the number that the server counted.
    fn write(&self, doing: &'static str, name: &str, command: Writer) -> Result<u64> {
        let answer = self.session.run(command);
        let answer = answer.map_err(|e| failed(format!("{doing} `{name}`"), &e))?;
        if let Some(why) = refusal(&answer) {
            return Err(EngineError::failed(NAME, format!("{doing} `{name}`"), why));
        }
        let count = answer.get("n").and_then(|n| match n {
            Bson::Int32(n) => u64::try_from(*n).ok(),
            Bson::Int64(n) => u64::try_from(*n).ok(),
            _ => None,
        });
        count.ok_or_else(|| {
            EngineError::failed(NAME, format!("{doing} `{name}`"), format!("it answered {answer}"))
        })
    }

    fn define(&self, doing: &str, command: Writer) -> Result<()> {
        self.session.run(command).map(|_| ()).map_err(|e| failed(doing, &e))
    }

    fn stream(
        &self,
        command: Writer,
        columns: &Columns<'_>,
        visit: &mut Visit<'_>,
        doing: impl FnOnce() -> String,
    ) -> Result<()> {
        let mut each = |document: &_| visit(&columns.row(document)?);
        self.session.stream(command, BATCH, &mut each).map_err(|e| e.while_doing(doing))
    }
}

/// Why a write was refused, in part or as a whole: its answer says so, and is none of an error.
fn refusal(answer: &Answer) -> Option<String> {
    let error = match answer.get_array("writeErrors") {
        Ok(errors) => errors.first()?.as_document()?,
        Err(_) => answer.get_document("writeConcernError").ok()?,
    };
    let (code, message) = (error.get("code"), error.get_str("errmsg").unwrap_or("no reason given"));
    Some(match code {
        Some(code) => format!("error {code}: {message}"),
        None => message.to_owned(),
    })
}

impl Lifecycle for MongoStore {
    /// Takes a checkpoint (<https://www.mongodb.com/docs/v6.0/reference/command/fsync/>). MongoDB
    /// keeps no statistics for its planner, which tries plans instead.
    fn settle(&mut self) -> Result<()> {
        let done = self.session.admin(doc! { "fsync": 1 });
        // On somebody's server only an administrator may; there it is not ours to insist.
        if self.server.is_some() { done.map(|_| ()) } else { Ok(()) }
    }

    fn reopen(&mut self, after: Ending) -> Result<()> {
        server::by_connection(NAME, after)?;
        self.pipelines = Pipelines::default();
        self.session.renew()
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// Another connection, with a runtime of its own on its thread.
    fn sibling(&mut self) -> Result<Door> {
        let (at, durability, waits) = (self.session.at(), self.durability, self.waits);
        Ok(Door::new(move || {
            // Of a server that is given the new session does not know that it is.
            let store = Self { waits, ..Self::new(Session::join(&at)?, None, durability) };
            Ok(Store::Document(Box::new(store)))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        let ended = session.end();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(ended)
    }
}

impl DocumentStore for MongoStore {
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        let named = |verb| {
            let mut command = Writer::new(COMMAND);
            command.text(verb, def.name);
            command
        };
        match self.session.run(named("drop")) {
            Ok(_) => {}
            // There was none.
            Err(e) if matches!(&*e.kind, ErrorKind::Command(c) if c.code == NAMESPACE_NOT_FOUND) => {
            }
            Err(e) => return Err(failed(format!("drop `{}`", def.name), &e)),
        }
        self.define(&format!("create `{}`", def.name), named("create"))?;
        if !def.indexes.is_empty() {
            let mut command = named("createIndexes");
            indexes(&mut command, def);
            self.define(&format!("create the indexes of `{}`", def.name), command)?;
        }
        self.collection(def)
    }

    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        let known = self.collections.iter().position(|known| known.name == def.name);
        let at = known.unwrap_or(self.collections.len());
        match self.collections.get_mut(at) {
            Some(place) => *place = def,
            None => self.collections.push(def),
        }
        Ok(Collection(at))
    }

    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        let def = self.def(collection)?;
        let mut command = Writer::new(COMMAND);
        command.text("insert", def.name);
        let documents = command.begin_list("documents");
        let one = command.begin("0");
        command.document(def, document);
        command.end(one);
        command.end(documents);
        command.concern(self.waits);
        self.write("insert into", def.name, command).map(|_| ())
    }

    /// Unordered, as the manual advises for loads
    /// (<https://www.mongodb.com/docs/v6.0/core/bulk-write-operations/#strategies-for-bulk-inserts-to-a-sharded-collection>).
    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64> {
        let def = self.def(collection)?;
        let (mut loaded, mut batch) = (0, Batch::new(def, COMMAND));
        let mut one = Writer::new(COMMAND);
        while let Some(document) = documents.next() {
            one.clear();
            one.document(def, &document);
            if batch.is_full_with(&one) {
                let room = batch.command.len() + COMMAND;
                let full = std::mem::replace(&mut batch, Batch::new(def, room));
                loaded += self.write("load", def.name, full.finish(self.waits))?;
            }
            batch.push(&one);
        }
        if batch.count > 0 {
            loaded += self.write("load", def.name, batch.finish(self.waits))?;
        }
        Ok(loaded)
    }

    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let def = self.def(collection)?;
        let mut command = Writer::new(COMMAND);
        command.text("find", def.name);
        command.filter(def, "filter", &find.filter);
        command.projection(def, find.columns);
        let is_one = matches!(find.filter, Filter::Key(_));
        let limit = if is_one { Some(find.limit.unwrap_or(1).min(1)) } else { find.limit };
        match (find.order, is_one) {
            (Order::Any, _) | (_, true) => {}
            (order, false) => {
                let sort = command.begin("sort");
                command.int32("_id", if order == Order::Key { 1 } else { -1 });
                command.end(sort);
            }
        }
        let mut batch = BATCH;
        if let Some(limit) = limit {
            let Ok(limit @ 1..) = i32::try_from(limit) else {
                // To MongoDB a limit of 0 is none.
                return if limit == 0 { Ok(()) } else { Err(too_many(limit)) };
            };
            command.int32("limit", limit);
            // One more than there can be: with the last of them the server then has seen the end.
            batch = BATCH.min(limit.unsigned_abs() + 1);
        }
        // One document never needs a second answer.
        command.bool("singleBatch", limit == Some(1));
        command.int32("batchSize", batch.cast_signed());
        let columns = Columns::stored(def, find.columns);
        self.stream(command, &columns, visit, || format!("find in `{}`", def.name))
    }

    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64> {
        let def = self.def(collection)?;
        let mut command = Writer::new(COMMAND);
        command.text("update", def.name);
        let updates = command.begin_list("updates");
        let update = command.begin("0");
        command.filter(def, "q", filter);
        command.changes("u", set);
        command.bool("multi", !matches!(filter, Filter::Key(_)));
        command.end(update);
        command.end(updates);
        command.concern(self.waits);
        self.write("update", def.name, command)
    }

    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64> {
        let def = self.def(collection)?;
        let mut command = Writer::new(COMMAND);
        command.text("delete", def.name);
        let deletes = command.begin_list("deletes");
        let delete = command.begin("0");
        command.filter(def, "q", filter);
        command.int32("limit", i32::from(matches!(filter, Filter::Key(_))));
        command.end(delete);
        command.end(deletes);
        command.concern(self.waits);
        self.write("delete from", def.name, command)
    }

    fn language(&self) -> Language {
        Language::Pipeline
    }

    fn query(
        &mut self,
        collection: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let def = self.def(collection)?;
        let mut command = Writer::new(COMMAND + question.len());
        command.text("aggregate", def.name);
        command.elements(self.pipelines.element(question)?);
        let cursor = command.begin("cursor");
        command.int32("batchSize", BATCH.cast_signed());
        command.end(cursor);
        // What does not fit the memory of a stage (100 MB) goes to files instead of an error.
        command.bool("allowDiskUse", true);
        self.stream(command, &Columns::made(columns), visit, || format!("answer `{question}`"))
    }
}

fn too_many(limit: u32) -> EngineError {
    EngineError::failed(NAME, "find documents", format!("a limit of {limit} is above 2^31 - 1"))
}

fn indexes(command: &mut Writer, def: &CollectionDef) {
    let list = command.begin_list("indexes");
    for (i, fields) in def.indexes.iter().enumerate() {
        let one = command.begin(index(i, &mut [0; 20]));
        let key = command.begin("key");
        for field in *fields {
            command.int32(command::path(def, field, &mut String::new()), 1);
        }
        command.end(key);
        command.text("name", &fields.join("_"));
        command.end(one);
    }
    command.end(list);
}

/// Part of a bulk load.
struct Batch {
    command: Writer,
    documents: super::bson::Begun,
    count: usize,
}

impl Batch {
    fn new(def: &CollectionDef, room: usize) -> Self {
        let mut command = Writer::new(room);
        command.text("insert", def.name);
        command.bool("ordered", false);
        let documents = command.begin_list("documents");
        Self { command, documents, count: 0 }
    }

    fn is_full_with(&self, one: &Writer) -> bool {
        self.count > 0 && (self.count == LOAD_COUNT || self.command.len() + one.len() > LOAD_BYTES)
    }

    fn push(&mut self, one: &Writer) {
        let document = self.command.begin(index(self.count, &mut [0; 20]));
        self.command.elements_of(one);
        self.command.end(document);
        self.count += 1;
    }

    fn finish(self, waits: bool) -> Writer {
        let Self { mut command, documents, .. } = self;
        command.end(documents);
        command.concern(waits);
        command
    }
}
