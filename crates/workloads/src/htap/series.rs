//! Dogs in a series store, whose key is a time: a dog's is its place in the sequence, in
//! nanoseconds. A tag of as many values as there are rows is what its manual warns of, so the UUID
//! is a field. What it indexes are tags: where attributes are indexed they are tags.

use arrayvec::ArrayVec;
use embermark_contract::series::{FieldValue, Point, Points, SeriesStore, TagValue};
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{Attribute, Dogs, Stored, TABLE, Visit, null, stored};
use super::variant::Indexes;
use crate::Strategy;
use crate::row_source::RowSource;

pub(super) struct SeriesDogs {
    store: Box<dyn SeriesStore>,
    indexes: Indexes,
}

impl SeriesDogs {
    pub(super) fn new(store: Box<dyn SeriesStore>, indexes: Indexes) -> Self {
        Self { store, indexes }
    }

    /// Visits the rows of a condition, which may be empty.
    fn rows(&mut self, condition: &str, visit: &mut Visit<'_>) -> Result<()> {
        let text = format!("SELECT id, \"name\", age, breed FROM {TABLE}{condition}");
        let indexes = self.indexes;
        self.store.query(&text, &["id", "name", "age", "breed"], &mut |row| {
            if indexes == Indexes::None {
                visit(&stored(row)?);
                return Ok(());
            }
            // Tags are text.
            let text = |column| row.text(column)?.ok_or_else(null);
            let (id, name, age, breed) = (text(0)?, text(1)?, text(2)?, text(3)?);
            let age = age.parse().map_err(|error| {
                EngineError::failed("the engine", "give back a dog", format!("age {age}: {error}"))
            })?;
            visit(&Stored { id, name, age, breed });
            Ok(())
        })
    }
}

/// A dog as a point has it.
struct Row<'a> {
    tags: ArrayVec<(&'a str, TagValue<'a>), 3>,
    fields: ArrayVec<(&'a str, FieldValue<'a>), 4>,
}

impl<'a> Row<'a> {
    fn of(dog: &'a Dog, indexes: Indexes) -> Self {
        let (name, age, breed) = ("name", "age", "breed");
        let id = ("id", FieldValue::Text(&dog.id));
        match indexes {
            Indexes::None => Self {
                tags: ArrayVec::new(),
                fields: ArrayVec::from([
                    id,
                    (name, FieldValue::Text(dog.name)),
                    (age, FieldValue::Int(dog.age)),
                    (breed, FieldValue::Text(dog.breed)),
                ]),
            },
            Indexes::Every => Self {
                tags: ArrayVec::from([
                    (age, TagValue::Int(dog.age)),
                    (breed, TagValue::Text(dog.breed)),
                    (name, TagValue::Text(dog.name)),
                ]),
                fields: ArrayVec::from_iter([id]),
            },
        }
    }

    fn point(&self, time_ns: i64) -> Point<'_> {
        Point { tags: &self.tags, fields: &self.fields, time_ns }
    }
}

struct DogPoints<'a> {
    source: RowSource<'a, Dog>,
    indexes: Indexes,
    row: Row<'a>,
}

impl Points for DogPoints<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let time_ns = self.source.given().cast_signed();
        self.row = Row::of(self.source.advance()?, self.indexes);
        Some(self.row.point(time_ns))
    }
}

impl Dogs for SeriesDogs {
    fn clear(&mut self) -> Result<()> {
        self.store.clear(TABLE)
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        if by == Strategy::Bulk {
            let source = RowSource::new(dogs, None, meter);
            let row = Row { tags: ArrayVec::new(), fields: ArrayVec::new() };
            let mut points = DogPoints { source, indexes: self.indexes, row };
            self.store.bulk(TABLE, &mut points)?;
            points.source.count_given();
        } else {
            meter.each(dogs.len() as u64, |i| {
                self.store.write(TABLE, &Row::of(&dogs[i], self.indexes).point(i as i64))
            })?;
        }
        self.store.flush()
    }

    fn count(&mut self) -> Result<u64> {
        let mut counted = 0;
        let question = "SELECT COUNT(id) AS dogs FROM dog";
        self.store.query(question, &["dogs"], &mut |row| {
            counted = row.int(0)?.unwrap_or_default().cast_unsigned();
            Ok(())
        })?;
        Ok(counted)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.rows("", visit)
    }

    /// Those that are tags.
    fn indexed(&mut self) -> Result<Vec<Attribute>> {
        let mut indexed = Vec::new();
        self.store.query(&format!("SHOW TAG KEYS FROM {TABLE}"), &["tagKey"], &mut |row| {
            let key = row.text(0)?;
            indexed.extend(Attribute::ALL.into_iter().find(|of| key == Some(of.column())));
            Ok(())
        })?;
        Ok(indexed)
    }

    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()> {
        // Names and breeds are of lists without quotes.
        let condition = match by {
            Attribute::Name => format!(" WHERE \"name\" = '{}'", dog.name),
            Attribute::Age => format!(" WHERE age = '{}'", dog.age),
            Attribute::Breed => format!(" WHERE breed = '{}'", dog.breed),
        };
        self.rows(&condition, visit)
    }

    fn store(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
