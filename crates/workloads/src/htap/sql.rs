//! Dogs in an SQL database.

use embermark_contract::Result;
use embermark_contract::sql::{
    self, Nullable, Param, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{Dogs, Stored, stored};
use crate::Strategy;
use crate::row_source::RowSource;

static TABLE: TableDef = TableDef {
    name: "dog",
    columns: &[
        ("id", SqlType::Text, Nullable::No),
        ("name", SqlType::Text, Nullable::No),
        ("age", SqlType::Int, Nullable::No),
        ("breed", SqlType::Text, Nullable::No),
    ],
    key: &["id"],
};

pub(super) struct SqlDogs {
    store: Box<dyn SqlStore>,
    /// Insert and count, prepared since the table was made.
    prepared: Option<[Statement; 2]>,
}

impl SqlDogs {
    pub(super) fn new(store: Box<dyn SqlStore>) -> Result<Self> {
        Ok(Self { store, prepared: None })
    }

    fn prepared(&mut self) -> Result<[Statement; 2]> {
        if let Some(prepared) = self.prepared {
            return Ok(prepared);
        }
        let values: Vec<String> =
            (1..=TABLE.columns.len()).map(|n| self.store.dialect().placeholder(n)).collect();
        let values = values.join(", ");
        let insert = format!("INSERT INTO dog (id, name, age, breed) VALUES ({values})");
        let prepared =
            [self.store.prepare(&insert)?, self.store.prepare("SELECT COUNT(id) FROM dog")?];
        Ok(*self.prepared.insert(prepared))
    }
}

fn params(dog: &Dog) -> [Param<'_>; 4] {
    [Param::Text(&dog.id), Param::Text(dog.name), Param::Int(dog.age), Param::Text(dog.breed)]
}

struct DogRows<'a> {
    source: RowSource<'a, Dog>,
    row: [Param<'a>; 4],
}

impl Rows for DogRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.row = params(self.source.advance()?);
        Some(&self.row)
    }
}

impl Dogs for SqlDogs {
    fn clear(&mut self) -> Result<()> {
        self.prepared = None;
        self.store.batch("DROP TABLE IF EXISTS dog")?;
        let create = self.store.dialect().create_table(&TABLE);
        self.store.batch(&create)
    }

    fn ready(&mut self, _: Strategy) -> Result<()> {
        self.store.expect(sql::QueryKind::Point)?;
        self.prepared().map(drop)
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        let [insert, _] = self.prepared()?;
        if by == Strategy::Bulk {
            let sorted = self.store.bulk_sorted();
            let source = RowSource::by_key(dogs, sorted, |dog| dog.id.as_str(), meter);
            let mut rows = DogRows { source, row: [Param::Null; 4] };
            self.store.bulk_insert(&TABLE, &mut rows)?;
            rows.source.count_given();
            return Ok(());
        }
        by.each(dogs.len(), meter, |scope, part| {
            self.store.within(scope, |store| {
                part.each(|i| store.run(insert, &params(&dogs[i])).map(drop))
            })
        })?;
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        let [_, count] = self.prepared()?;
        let mut counted = 0;
        self.store.query(count, &[], &mut |row| {
            counted = row.int(0)?.unwrap_or_default().cast_unsigned();
            Ok(())
        })?;
        Ok(counted)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let all = self.store.prepare("SELECT id, name, age, breed FROM dog")?;
        self.store.query(all, &[], &mut |row| {
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
