//! Dogs in a document store.

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value,
};
use embermark_contract::{Lifecycle, Result};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{Attribute, Dogs, TABLE, Visit, stored};
use super::variant::Indexes;
use crate::Strategy;
use crate::row_source::RowSource;

static DOGS: CollectionDef =
    CollectionDef { name: TABLE, key: &["id"], indexes: &[], fields: &["name", "age", "breed"] };

static INDEXED: CollectionDef =
    CollectionDef { indexes: &[&["name"], &["age"], &["breed"]], ..DOGS };

const COLUMNS: &[&str] = &["id", "name", "age", "breed"];

pub(super) struct DocumentDogs {
    store: Box<dyn DocumentStore>,
    collection: Collection,
    def: &'static CollectionDef,
    /// How many there are, in the engine's language.
    question: String,
}

impl DocumentDogs {
    pub(super) fn new(mut store: Box<dyn DocumentStore>, indexes: Indexes) -> Result<Self> {
        let def = if indexes == Indexes::None { &DOGS } else { &INDEXED };
        let collection = store.create(def)?;
        let question = match store.language() {
            Language::Pipeline => r#"[{"$count": "dogs"}]"#.to_owned(),
            Language::Sql(sql) => format!("SELECT COUNT(id) AS dogs FROM {}", sql.table(def.name)),
        };
        Ok(Self { store, collection, def, question })
    }
}

fn visit_found(
    store: &mut dyn DocumentStore,
    collection: Collection,
    filter: Filter<'_>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let find = Find { filter, order: Order::Any, limit: None, columns: COLUMNS };
    store.find(collection, &find, &mut |row| {
        visit(&stored(row)?);
        Ok(())
    })
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
        self.collection = self.store.create(self.def)?;
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

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        visit_found(&mut *self.store, self.collection, Filter::All, visit)
    }

    fn indexed(&mut self) -> Result<Vec<Attribute>> {
        let fields = self.store.indexed_fields(self.collection)?;
        let is_there = |of: &Attribute| fields.iter().any(|field| field == of.column());
        Ok(Attribute::ALL.into_iter().filter(is_there).collect())
    }

    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()> {
        let value = match by {
            Attribute::Name => Value::Text(dog.name),
            Attribute::Age => Value::Int(dog.age),
            Attribute::Breed => Value::Text(dog.breed),
        };
        let filter = Filter::Equal(by.column(), value);
        visit_found(&mut *self.store, self.collection, filter, visit)
    }

    fn store(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
