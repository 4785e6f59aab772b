//! The document family: documents of named values in collections, found by filters, and questions
//! in the engine's own language.

use crate::row::Visit;
use crate::sql::Dialect;
use crate::{Lifecycle, Result};

/// A collection of a [`DocumentStore`], as that store numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection(pub usize);

/// A collection to create.
#[derive(Clone, Copy, Debug)]
pub struct CollectionDef {
    /// Its name: letters and digits.
    pub name: &'static str,
    /// The fields of a document's key, in order. The engine keeps documents findable by it and
    /// by ranges of it. Of none the engine makes a key of its own, which nothing is asked by.
    pub key: &'static [&'static str],
    /// The fields of each secondary index, in order; not unique. Where every field has one, an engine
    /// that indexes on its own is left to do so.
    pub indexes: &'static [&'static [&'static str]],
    /// Fields beside the key that documents may have.
    pub fields: &'static [&'static str],
}

/// A value in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// A 64-bit integer; engines that know only doubles keep 53 bits of it.
    Int(i64),
    /// A double.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// Bytes; not of every engine.
    Bytes(&'a [u8]),
    /// A date, in milliseconds since 1970-01-01 UTC, which it is read back as; not of every engine.
    Date(i64),
    /// A list.
    List(&'a [Value<'a>]),
    /// A document within.
    Fields(&'a [Field<'a>]),
}

/// A field: its name and value.
pub type Field<'a> = (&'a str, Value<'a>);

/// A document: the values of its key, in the order of [`CollectionDef::key`], and its other fields.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Values of the key.
    pub key: &'a [Value<'a>],
    /// The other fields. One that is absent reads as NULL. One that is called `data.level` is the field `level` of
    /// a document within, `data`, whose fields follow each other: of engines of [`Language::Pipeline`] alone.
    pub fields: &'a [Field<'a>],
}

/// Gives the documents of a bulk load, one at a time; `None` ends it.
pub trait Documents {
    /// The next document, valid until the next call.
    fn next(&mut self) -> Option<Document<'_>>;
}

/// Which documents.
#[derive(Clone, Copy, Debug)]
pub enum Filter<'a> {
    /// All of them.
    All,
    /// The one of that key.
    Key(&'a [Value<'a>]),
    /// Those of keys from `from` up to but without `to`, compared value by value. Either may be
    /// cut short: it then comes before every key that it begins. One without values bounds nothing.
    Keys {
        /// The lowest key that belongs to it.
        from: &'a [Value<'a>],
        /// The lowest key above it that does not.
        to: &'a [Value<'a>],
    },
    /// Those whose field has that value.
    Equal(&'a str, Value<'a>),
    /// Those whose field has a value from `from` up to but without `to`.
    Between {
        /// The field.
        field: &'a str,
        /// The lowest value that belongs to it.
        from: Value<'a>,
        /// The lowest value above it that does not.
        to: Value<'a>,
    },
    /// Those of every one of these, at least one; none of them of one key.
    Every(&'a [Filter<'a>]),
}

/// In which order documents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In any.
    Any,
    /// By ascending keys.
    Key,
    /// By descending keys.
    KeyDescending,
    /// By ascending values of a field that has an index.
    By(&'static str),
    /// By descending values of it.
    ByDescending(&'static str),
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Find<'a> {
    /// Which documents.
    pub filter: Filter<'a>,
    /// In which order.
    pub order: Order,
    /// At most how many.
    pub limit: Option<u32>,
    /// The columns of the rows visited: fields, those of the key among them, by their names.
    pub columns: &'a [&'a str],
}

/// The language in which a document store is asked questions.
#[derive(Clone, Copy)]
pub enum Language {
    /// MongoDB's aggregation pipeline, as a JSON array. The fields of a key of one field stand
    /// under `_id`, those of a longer key under `_id.NAME`.
    Pipeline,
    /// SQL, as this dialect writes it; every result column has a name.
    Sql(&'static dyn Dialect),
}

/// A store of documents. Every change is committed at the tier's durability before the call
/// returns: this family has no transactions over several documents. One connection.
///
/// # Errors
/// Of every call the engine's message, and of one that visits rows the first error of `visit`.
pub trait DocumentStore: Lifecycle {
    /// Creates a collection and its indexes anew, empty: what had its name before is gone.
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection>;

    /// Opens a collection that [`create`](Self::create) has made, here or in another process, and
    /// leaves it as it is.
    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection>;

    /// Inserts one document.
    ///
    /// # Errors
    /// The engine's message; a key that is there already.
    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()>;

    /// Puts a document in, in place of the one of its key where that is there. Both have the same fields.
    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()>;

    /// Loads documents by the engine's fastest documented path, and returns how many.
    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64>;

    /// Visits the documents found, as rows of the columns asked for. An absent field is NULL.
    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()>;

    /// Sets fields of the documents of a filter; the number of documents there were.
    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64>;

    /// Deletes the documents of a filter; the number of documents there were.
    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64>;

    /// The fields that have an index of their own, as the engine itself tells.
    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>>;

    /// The language of [`query`](Self::query).
    fn language(&self) -> Language;

    /// Asks a question in the engine's language and visits the result as rows of the columns
    /// asked for, by their names; `a.b` is field `b` of the document `a`.
    fn query(
        &mut self,
        collection: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()>;
}
