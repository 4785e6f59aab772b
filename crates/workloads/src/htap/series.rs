//! Dogs in a series store, whose key is a time: a dog's is its place in the sequence, in
//! nanoseconds. A tag of as many values as there are rows is what its manual warns of, so the UUID
//! is a field.

use embermark_contract::Result;
use embermark_contract::series::{FieldValue, Point, Points, SeriesStore};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{Dogs, Stored, stored};
use crate::Strategy;
use crate::row_source::RowSource;

const DOG: &str = "dog";

pub(super) struct SeriesDogs {
    store: Box<dyn SeriesStore>,
}

impl SeriesDogs {
    pub(super) fn new(store: Box<dyn SeriesStore>) -> Self {
        Self { store }
    }
}

type Fields<'a> = [(&'a str, FieldValue<'a>); 4];

fn fields(dog: &Dog) -> Fields<'_> {
    [
        ("id", FieldValue::Text(&dog.id)),
        ("name", FieldValue::Text(dog.name)),
        ("age", FieldValue::Int(dog.age)),
        ("breed", FieldValue::Text(dog.breed)),
    ]
}

struct DogPoints<'a> {
    source: RowSource<'a, Dog>,
    fields: Fields<'a>,
}

impl Points for DogPoints<'_> {
    fn next(&mut self) -> Option<Point<'_>> {
        let time_ns = self.source.given().cast_signed();
        self.fields = fields(self.source.advance()?);
        Some(Point { tags: &[], fields: &self.fields, time_ns })
    }
}

impl Dogs for SeriesDogs {
    fn clear(&mut self) -> Result<()> {
        self.store.clear(DOG)
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        if by == Strategy::Bulk {
            let source = RowSource::new(dogs, None, meter);
            let mut points = DogPoints { source, fields: [("", FieldValue::Int(0)); 4] };
            self.store.bulk(DOG, &mut points)?;
            points.source.count_given();
        } else {
            meter.each(dogs.len() as u64, |i| {
                let fields = fields(&dogs[i]);
                self.store.write(DOG, &Point { tags: &[], fields: &fields, time_ns: i as i64 })
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

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let columns = &["id", "name", "age", "breed"];
        self.store.query(r#"SELECT id, "name", age, breed FROM dog"#, columns, &mut |row| {
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
