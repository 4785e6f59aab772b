//! Dogs in a key-value store.

use std::ops::ControlFlow;

use embermark_contract::kv::{self, KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{EngineError, Lifecycle, Result, Scope};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::columns::{self, Columns, Statements};
use super::port::{Attribute, Dogs, TABLE, Visit};
use super::record::{self, INDEXES, Key, Layout, Value};
use super::variant::Indexes;
use crate::Strategy;
use crate::mirrored::Mirrored;
use crate::row_source::RowSource;

pub(super) struct KvDogs {
    store: Box<dyn KvStore>,
    table: Table,
    layout: Layout,
    /// Whether the engine itself keeps what indexes there are.
    by_engine: bool,
    counts: Execution,
    /// Whether the store knows how many pairs there are, so that there is nothing to ask.
    knows_count: bool,
    /// The same in columns.
    mirrored: Statements,
}

impl KvDogs {
    /// Indexes that the engine does not keep are kept in tables beside its own.
    pub(super) fn new(store: Box<dyn KvStore>, indexes: Indexes) -> Result<Self> {
        let by_engine = indexes == Indexes::None || store.keeps_indexes();
        let (mut store, layout, indexes) = match indexes {
            Indexes::None => (store, Layout::Packed, &[][..]),
            Indexes::Every => (kv::Indexed::new(store), Layout::Fixed, &INDEXES[..]),
        };
        let key_length = Some(size_of::<Key>());
        let table = store.table(&TableDef { name: TABLE, key_length, indexes })?;
        let knows_count = store.within(Scope::Snapshot, |s| s.count(table))?.is_some();
        let native = knows_count && by_engine;
        let counts = if native { Execution::Native } else { Execution::ClientSide };
        let mirrored = Mirrored::show(&mut *store, table, Columns(layout))?;
        Ok(Self { store, table, layout, by_engine, counts, knows_count, mirrored })
    }
}

/// The number of pairs, as the store knows it or a scan finds it.
fn count(store: &mut dyn KvStore, table: Table) -> Result<u64> {
    store.within(Scope::Snapshot, |snapshot| {
        if let Some(counted) = snapshot.count(table)? {
            return Ok(counted);
        }
        let mut counted = 0;
        snapshot.scan(table, Range::default(), &mut |_, _| {
            counted += 1;
            ControlFlow::Continue(())
        })?;
        Ok(counted)
    })
}

struct DogPairs<'a> {
    source: RowSource<'a, Dog>,
    layout: Layout,
    key: Key,
    value: Value,
}

impl Pairs for DogPairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let dog = self.source.advance()?;
        (self.key, self.value) = (record::key(dog), record::value(dog, self.layout));
        Some((&self.key, &self.value))
    }
}

/// Hands dogs on, and keeps what is none.
fn decoded(
    layout: Layout,
    work: impl FnOnce(&mut kv::Visit<'_>) -> Result<()>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut broken = None;
    work(&mut |key, value| {
        match record::stored(&record::text(key), value, layout) {
            Some(dog) => visit(&dog),
            None => broken = Some(format!("{value:?} is no value that was put")),
        }
        ControlFlow::Continue(())
    })?;
    broken.map_or(Ok(()), |what| Err(EngineError::failed("the store", "give back a dog", what)))
}

impl Dogs for KvDogs {
    fn counts(&self) -> Execution {
        self.counts
    }

    fn answered_by(&self) -> Option<Execution> {
        self.mirrored.answered_by(Execution::ClientSide).filter(|_| self.by_engine)
    }

    fn ready(&mut self, _: Strategy) -> Result<()> {
        self.mirrored.begin();
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        let layout = self.layout;
        if by == Strategy::Bulk {
            let source =
                RowSource::by_key(dogs, self.store.bulk_sorted(), |dog| dog.id.as_str(), meter);
            let mut pairs = DogPairs { source, layout, key: [0; _], value: Value::new() };
            self.store.bulk(self.table, &mut pairs)?;
            pairs.source.count_given();
            return Ok(());
        }
        let Self { store, table, .. } = self;
        by.each(dogs.len(), meter, |scope, part| {
            store.within(scope, |operations| {
                part.each(|i| {
                    let dog = &dogs[i];
                    operations.put(*table, &record::key(dog), &record::value(dog, layout))
                })
            })
        })?;
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        let Self { store, table, knows_count, mirrored, .. } = self;
        if *knows_count {
            return count(&mut **store, *table);
        }
        let mut counted = 0;
        let side = store.ask(
            "count",
            &mut counted,
            &mut |store, counted| {
                *counted = count(store, *table)?;
                Ok(())
            },
            &mut |sql, number, counted| {
                *counted = columns::count((sql, number), mirrored)?;
                Ok(())
            },
        )?;
        mirrored.answered(side);
        Ok(counted)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        let Self { store, table, layout, .. } = self;
        store.within(Scope::Snapshot, |snapshot| {
            decoded(*layout, |pairs| snapshot.scan(*table, Range::default(), pairs), visit)
        })
    }

    /// Those that the table was made with: a search by any other fails.
    fn indexed(&mut self) -> Result<Vec<Attribute>> {
        Ok(if self.layout == Layout::Fixed { Attribute::ALL.to_vec() } else { Vec::new() })
    }

    fn find(&mut self, by: Attribute, dog: &Dog, visit: &mut Visit<'_>) -> Result<()> {
        let Self { store, table, layout, .. } = self;
        let value = record::value(dog, *layout);
        let place = INDEXES[by as usize];
        let from = &value[place.at..place.at + place.length];
        let to = kv::beyond(from);
        let range = Range::between(from, to.as_deref());
        store.within(Scope::Snapshot, |snapshot| {
            decoded(*layout, |pairs| snapshot.find(*table, by as usize, range, pairs), visit)
        })
    }

    fn store(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
