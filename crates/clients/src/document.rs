//! A tape between a workload and a document store.

mod json;
#[cfg(test)]
mod tests;

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
};
use embermark_contract::row::Visit;
use embermark_contract::sql::Param;
use embermark_contract::{EngineError, Result};

use crate::operations::{Code, Operations};
use crate::tape::Mode;
use crate::taped::Taped;

/// A document store whose calls go through a tape. Its collections are recorded by their
/// definitions.
pub(crate) type TapedDocuments = Taped<dyn DocumentStore, Option<&'static CollectionDef>>;

impl TapedDocuments {
    fn def(&self, collection: Collection) -> Result<&'static CollectionDef> {
        self.named.get(collection.0).copied().flatten().ok_or_else(|| {
            EngineError::failed("the client", "find a collection", "it was not opened")
        })
    }

    /// Records a call with these texts as parameters.
    fn record(
        &self,
        code: Code,
        collection: Collection,
        texts: impl FnOnce(&CollectionDef) -> Vec<String>,
    ) -> Result<()> {
        let def = self.def(collection)?;
        self.tape.note(|operations| record(operations, code, def, &texts(def)));
        Ok(())
    }

    /// Returns the number of documents that the program changed by a call.
    fn changed(&self, code: Code) -> Result<u64> {
        self.tape.answer(|answers| answers.changed(code))
    }

    /// Visits the rows of the program's answer to a call.
    fn play_rows(&self, code: Code, visit: &mut Visit<'_>) -> Result<()> {
        self.tape.answer(|answers| answers.rows(code, visit))
    }
}

fn record(operations: &mut Operations, code: Code, def: &CollectionDef, texts: &[String]) {
    let number = operations.collection(def);
    operations.call(code, number, texts.iter().map(|text| Param::Text(text)));
}

/// Returns the two texts of a document.
fn texts(def: &CollectionDef, document: &Document<'_>) -> Vec<String> {
    vec![json::key(def, document.key), json::document(document.fields)]
}

impl DocumentStore for TapedDocuments {
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        let collection = self.store.create(def)?;
        self.name(collection.0, Some(def));
        Ok(collection)
    }

    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection> {
        let collection = self.store.collection(def)?;
        self.name(collection.0, Some(def));
        Ok(collection)
    }

    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        match self.tape.mode() {
            Mode::Through => self.store.insert(collection, document),
            Mode::Record => self.record(Code::Insert, collection, |def| texts(def, document)),
            Mode::Play => self.changed(Code::Insert).map(drop),
        }
    }

    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()> {
        match self.tape.mode() {
            Mode::Through => self.store.upsert(collection, document),
            Mode::Record => self.record(Code::Upsert, collection, |def| texts(def, document)),
            Mode::Play => self.changed(Code::Upsert).map(drop),
        }
    }

    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64> {
        if self.tape.mode() == Mode::Through {
            return self.store.bulk(collection, documents);
        }
        let def = self.def(collection)?;
        self.tape.load(|operations| {
            let Some(document) = documents.next() else { return false };
            if let Some(operations) = operations {
                record(operations, Code::Bulk, def, &texts(def, &document));
            }
            true
        })
    }

    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        if find.limit == Some(0) {
            return Ok(());
        }
        match self.tape.mode() {
            Mode::Play => self.play_rows(Code::Find, visit),
            mode => {
                if mode == Mode::Record {
                    self.record(Code::Find, collection, |def| vec![json::find(def, find)])?;
                }
                self.store.find(collection, find, visit)
            }
        }
    }

    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64> {
        match self.tape.mode() {
            Mode::Through => self.store.update(collection, filter, set),
            Mode::Record => {
                let texts =
                    |def: &CollectionDef| vec![json::filter(def, filter), json::fields(set)];
                self.record(Code::Update, collection, texts)?;
                Ok(1)
            }
            Mode::Play => self.changed(Code::Update),
        }
    }

    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64> {
        match self.tape.mode() {
            Mode::Through => self.store.delete(collection, filter),
            Mode::Record => {
                self.record(Code::Remove, collection, |def| vec![json::filter(def, filter)])?;
                Ok(1)
            }
            Mode::Play => self.changed(Code::Remove),
        }
    }

    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>> {
        self.store.indexed_fields(collection)
    }

    fn language(&self) -> Language {
        self.store.language()
    }

    fn query(
        &mut self,
        collection: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        match self.tape.mode() {
            Mode::Play => self.play_rows(Code::Ask, visit),
            mode => {
                if mode == Mode::Record {
                    let texts = |_: &CollectionDef| vec![question.to_owned(), json::names(columns)];
                    self.record(Code::Ask, collection, texts)?;
                }
                self.store.query(collection, question, columns, visit)
            }
        }
    }
}
