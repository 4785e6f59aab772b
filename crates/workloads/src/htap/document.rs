//! Dogs in a document store.

use embermark_contract::Result;
use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{Dogs, Stored, stored};
use crate::Strategy;
use crate::row_source::RowSource;

static DOGS: CollectionDef =
    CollectionDef { name: "dog", key: &["id"], indexes: &[], fields: &["name", "age", "breed"] };

pub(super) struct DocumentDogs {
    store: Box<dyn DocumentStore>,
    collection: Collection,
    /// How many there are, in the engine's language.
    question: String,
}

impl DocumentDogs {
    pub(super) fn new(mut store: Box<dyn DocumentStore>) -> Result<Self> {
        let collection = store.create(&DOGS)?;
        let question = match store.language() {
            Language::Pipeline => r#"[{"$count": "dogs"}]"#.to_owned(),
            Language::Sql(sql) => format!("SELECT COUNT(id) AS dogs FROM {}", sql.table(DOGS.name)),
        };
        Ok(Self { store, collection, question })
    }
}

fn fields(dog: &Dog) -> ([Value<'_>; 1], [Field<'_>; 3]) {
    let fields = [
        ("name", Value::Text(dog.name)),
        ("age", Value::Int(dog.age)),
        ("breed", Value::Text(dog.breed)),
    ];
    ([Value::Text(&dog.id)], fields)
}

struct DogDocuments<'a> {
    source: RowSource<'a, Dog>,
    next: ([Value<'a>; 1], [Field<'a>; 3]),
}

impl Documents for DogDocuments<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        self.next = fields(self.source.advance()?);
        Some(Document { key: &self.next.0, fields: &self.next.1 })
    }
}

impl Dogs for DocumentDogs {
    fn clear(&mut self) -> Result<()> {
        self.collection = self.store.create(&DOGS)?;
        Ok(())
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        if by == Strategy::Bulk {
            let source = RowSource::new(dogs, None, meter);
            let next = ([Value::Null], [("", Value::Null); 3]);
            let mut documents = DogDocuments { source, next };
            self.store.bulk(self.collection, &mut documents)?;
            documents.source.count_given();
            return Ok(());
        }
        meter.each(dogs.len() as u64, |i| {
            let (key, fields) = fields(&dogs[i]);
            self.store.insert(self.collection, &Document { key: &key, fields: &fields })
        })?;
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        let mut counted = 0;
        self.store.query(self.collection, &self.question, &["dogs"], &mut |row| {
            counted = row.int(0)?.unwrap_or_default().cast_unsigned();
            Ok(())
        })?;
        Ok(counted)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let columns = &["id", "name", "age", "breed"];
        let find = Find { filter: Filter::All, order: Order::Any, limit: None, columns };
        self.store.find(self.collection, &find, &mut |row| {
            visit(&stored(row)?);
            Ok(())
        })
    }

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
