//! The document family: documents with named values in collections. They are found by filters and
//! by queries in the engine's own language.

use crate::row::Visit;
use crate::sql::Dialect;
use crate::{Lifecycle, Result};

/// Number of a collection in its [`DocumentStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection(pub usize);

/// A collection to create.
#[derive(Clone, Copy, Debug)]
pub struct CollectionDef {
    /// Name: letters and digits.
    pub name: &'static str,
    /// Fields of the key, in order. The engine finds documents by the key and by ranges of it. If
    /// empty, the engine makes its own key, which no query uses.
    pub key: &'static [&'static str],
    /// Fields of each secondary index, in order. Indexes are not unique. If every field has its own
    /// index, an engine that indexes by itself is left to do so.
    pub indexes: &'static [&'static [&'static str]],
    /// Other fields that documents may have.
    pub fields: &'static [&'static str],
}

/// A value in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Null.
    Null,
    /// A 64-bit integer. Engines that have only doubles keep 53 bits of it.
    Int(i64),
    /// A double.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// Bytes. Not every engine has them.
    Bytes(&'a [u8]),
    /// A date in milliseconds since 1970-01-01 UTC, and read back as such. Not every engine has
    /// dates.
    Date(i64),
    /// A list.
    List(&'a [Value<'a>]),
    /// A nested document.
    Fields(&'a [Field<'a>]),
}

/// A field: its name and its value.
pub type Field<'a> = (&'a str, Value<'a>);

/// A document: the values of its key, in the order of [`CollectionDef::key`], and its other fields.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Values of the key.
    pub key: &'a [Value<'a>],
    /// The other fields. An absent field reads as NULL. A name like `data.level` means the field
    /// `level` of the nested document `data`, whose fields follow each other. Only engines of
    /// [`Language::Pipeline`] take such names.
    pub fields: &'a [Field<'a>],
}

/// Supplies the documents of a bulk load one at a time. `None` ends the load.
pub trait Documents {
    /// Returns the next document, valid until the next call.
    fn next(&mut self) -> Option<Document<'_>>;
}

/// Selects documents.
#[derive(Clone, Copy, Debug)]
pub enum Filter<'a> {
    /// All documents.
    All,
    /// The document with this key.
    Key(&'a [Value<'a>]),
    /// Documents with keys from `from` (inclusive) to `to` (exclusive), compared value by value.
    /// Either bound may be a prefix of a key. It then sorts before every key that begins with it.
    /// An empty bound is unbounded.
    Keys {
        /// Lowest key that is included.
        from: &'a [Value<'a>],
        /// Lowest key above the range.
        to: &'a [Value<'a>],
    },
    /// Documents whose field has this value.
    Equal(&'a str, Value<'a>),
    /// Documents whose field has a value from `from` (inclusive) to `to` (exclusive).
    Between {
        /// Name of the field.
        field: &'a str,
        /// Lowest value that is included.
        from: Value<'a>,
        /// Lowest value above the range.
        to: Value<'a>,
    },
    /// Documents that match every one of these filters. There is at least one, and none is
    /// [`Filter::Key`].
    Every(&'a [Filter<'a>]),
}

/// The order in which documents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any order.
    Any,
    /// Ascending keys.
    Key,
    /// Descending keys.
    KeyDescending,
    /// Ascending values of an indexed field.
    By(&'static str),
    /// Descending values of an indexed field.
    ByDescending(&'static str),
}

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Find<'a> {
    /// Which documents to find.
    pub filter: Filter<'a>,
    /// The order in which they are visited.
    pub order: Order,
    /// Largest number of documents to find.
    pub limit: Option<u32>,
    /// Columns of the rows visited: names of fields, which may include fields of the key.
    pub columns: &'a [&'a str],
}

/// The query language of a document store.
#[derive(Clone, Copy)]
pub enum Language {
    /// MongoDB's aggregation pipeline, as a JSON array. The field of a single-field key is called
    /// `_id`. The fields of a longer key are called `_id.NAME`.
    Pipeline,
    /// SQL in this dialect. Every result column has a name.
    Sql(&'static dyn Dialect),
}

/// A store of documents. Every change is committed at the tier's durability before the call
/// returns: this family has no transactions over several documents. One connection.
///
/// # Errors
/// Every call fails with the engine's message. A call that visits rows also fails with the first
/// error of `visit`.
pub trait DocumentStore: Lifecycle {
    /// Creates an empty collection with its indexes. Replaces a collection of the same name.
    fn create(&mut self, def: &'static CollectionDef) -> Result<Collection>;

    /// Opens a collection that [`create`](Self::create) made, in this process or another one, and
    /// leaves it unchanged.
    fn collection(&mut self, def: &'static CollectionDef) -> Result<Collection>;

    /// Inserts one document.
    ///
    /// # Errors
    /// The engine's message, or a key that exists.
    fn insert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()>;

    /// Inserts a document, or replaces the one with the same key. Both have the same fields.
    fn upsert(&mut self, collection: Collection, document: &Document<'_>) -> Result<()>;

    /// Loads documents by the engine's fastest documented path and returns their number.
    fn bulk(&mut self, collection: Collection, documents: &mut dyn Documents) -> Result<u64>;

    /// Visits the documents found, as rows of the requested columns. An absent field is NULL.
    fn find(
        &mut self,
        collection: Collection,
        find: &Find<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()>;

    /// Sets fields of the documents that match a filter and returns the number of matches.
    fn update(
        &mut self,
        collection: Collection,
        filter: &Filter<'_>,
        set: &[Field<'_>],
    ) -> Result<u64>;

    /// Deletes the documents that match a filter and returns their number.
    fn delete(&mut self, collection: Collection, filter: &Filter<'_>) -> Result<u64>;

    /// Returns the fields that have their own index, as the engine reports them.
    fn indexed_fields(&mut self, collection: Collection) -> Result<Vec<String>>;

    /// Returns the language of [`query`](Self::query).
    fn language(&self) -> Language;

    /// Runs a query in the engine's language and visits its result as rows of the requested
    /// columns, by name. `a.b` is field `b` of the nested document `a`.
    fn query(
        &mut self,
        collection: Collection,
        question: &str,
        columns: &[&str],
        visit: &mut Visit<'_>,
    ) -> Result<()>;
}
