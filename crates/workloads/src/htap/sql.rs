//! Dogs in an SQL database.

use embermark_contract::sql::{
    self, Dialect, Nullable, Param, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_contract::{Lifecycle, Meanwhile, Result};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;

use super::port::{self, Attribute, Dogs, Visit, stored};
use super::variant::Indexes;
use crate::Strategy;
use crate::reopenable::Reopenable;
use crate::row_source::RowSource;

static TABLE: TableDef = TableDef {
    name: port::TABLE,
    columns: &[
        ("id", SqlType::Text, Nullable::No),
        ("name", SqlType::Text, Nullable::No),
        ("age", SqlType::Int, Nullable::No),
        ("breed", SqlType::Text, Nullable::No),
    ],
    key: &["id"],
};

pub(super) struct SqlDogs {
    store: Reopenable<dyn SqlStore>,
    indexes: Indexes,
    /// Insert and count, prepared since the table was made.
    prepared: Option<[Statement; 2]>,
}

impl SqlDogs {
    pub(super) const fn new(store: Reopenable<dyn SqlStore>, indexes: Indexes) -> Self {
        Self { store, indexes, prepared: None }
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

/// The statements that make the table and its indexes.
fn create(dialect: &dyn Dialect, indexes: Indexes) -> Vec<String> {
    if indexes == Indexes::None {
        return vec![dialect.create_table(&TABLE)];
    }
    let text = dialect.indexed_type(SqlType::Text);
    let types = [Attribute::Name, Attribute::Breed].map(|of| (of.column(), text));
    let table = dialect.create_table_of(&TABLE, &types);
    let index = |of: Attribute| format!("CREATE INDEX {} ON dog ({})", of.index(), of.column());
    std::iter::once(table).chain(Attribute::ALL.map(index)).collect()
}

fn param(dog: &Dog, of: Attribute) -> Param<'_> {
    match of {
        Attribute::Name => Param::Text(dog.name),
        Attribute::Age => Param::Int(dog.age),
        Attribute::Breed => Param::Text(dog.breed),
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
        let dialect = self.store.dialect();
        self.store.batch(&dialect.drop_table(TABLE.name))?;
        let create = create(dialect, self.indexes);
        create.iter().try_for_each(|statement| self.store.batch(statement))
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

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let all = self.store.prepare("SELECT id, name, age, breed FROM dog")?;
        self.store.query(all, &[], &mut |row| {
            visit(&stored(row)?);
            Ok(())
        })
    }

    fn indexed(&mut self) -> Result<Vec<Attribute>> {
        let Some(names) = self.store.dialect().index_names(TABLE.name) else {
            return Ok(Vec::new());
        };
        let names = self.store.prepare(&names)?;
        let mut indexed = Vec::new();
        self.store.query(names, &[], &mut |row| {
            let name = row.text(0)?;
            indexed.extend(Attribute::ALL.into_iter().find(|of| name == Some(&of.index())));
            Ok(())
        })?;
        Ok(indexed)
    }

    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()> {
        let (column, place) = (by.column(), self.store.dialect().placeholder(1));
        let text = format!("SELECT id, name, age, breed FROM dog WHERE {column} = {place}");
        let find = self.store.prepare(&text)?;
        self.store.query(find, &[param(dog, by)], &mut |row| {
            visit(&stored(row)?);
            Ok(())
        })
    }

    fn while_closed(&mut self, work: &mut Meanwhile<'_>) -> Result<()> {
        self.prepared = None;
        self.store.reopen_after(work)
    }

    fn store(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
