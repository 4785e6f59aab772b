//! `memory`: a sorted map in the process, the physical limit an engine can be held against.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use embermark_model::Durability;
use smallvec::SmallVec;

use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, Availability, ClientOpener, DataModel, Engine, EngineError, Info, Join, Kind,
    Lifecycle, OpenOptions, Opened, Result, ShutdownKind, Store, Tier,
};

/// The engine.
pub(crate) struct Memory;

/// Short keys and values lie in the map's own nodes, so that a search follows no pointer for each
/// key it compares.
type Key = SmallVec<[u8; 16]>;
type Value = SmallVec<[u8; 40]>;
type Map = BTreeMap<Key, Value>;

#[derive(Default)]
struct Maps {
    tables: Vec<(String, Map)>,
}

impl Engine for Memory {
    fn info(&self) -> Info {
        Info {
            id: "memory",
            name: "sorted map in memory",
            kind: Kind::Reference,
            family: DataModel::KeyValue,
            licence: "-",
        }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    fn has_maintenance(&self) -> bool {
        false
    }

    fn tier(&self, _: Durability) -> Tier {
        Tier::Offered { keeps: Durability::None, setting: "in memory only" }
    }

    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let store = Store::Kv(Box::new(Maps::default()));
        Ok(Opened { store, version, settings: Vec::new(), server: None })
    }
}

impl Lifecycle for Maps {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    /// Nothing: the maps are all there is, and a program that starts anew would have none.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        match after {
            ShutdownKind::Clean => Ok(()),
            ShutdownKind::Crash => {
                let what = "recovery: a map in memory dies with its process";
                Err(EngineError::unsupported("memory", what))
            }
        }
    }

    fn join(&self) -> Join {
        Join::Exclusive("it is a map in this process's memory")
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: it is a map without a lock";
        Err(EngineError::unsupported("memory", what))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Maps {
    fn map(&mut self, table: Table) -> &mut Map {
        &mut self.tables[table.0].1
    }
}

impl KvStore for Maps {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let known = self.tables.iter().position(|(known, _)| known == def.name);
        Ok(Table(known.unwrap_or_else(|| {
            self.tables.push((def.name.to_owned(), Map::new()));
            self.tables.len() - 1
        })))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        *self.map(table) = Map::new();
        Ok(())
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        Ok(self.map(table).get(key).map(Value::as_slice))
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        Ok(Some(self.map(table).len() as u64))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.map(table).insert(key.into(), value.into());
        Ok(())
    }

    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        let found = self.map(table).get_mut(key);
        Ok(found.map(|value| change(value)).is_some())
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        Ok(self.map(table).remove(key).is_some())
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        // The map's own bulk path: build it from a sorted vector.
        let mut all: Vec<(Key, Value)> = Vec::new();
        while let Some((key, value)) = pairs.next() {
            all.push((key.into(), value.into()));
        }
        let rows = all.len() as u64;
        *self.map(table) = all.into_iter().collect();
        Ok(rows)
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        if let (Some(from), Some(to)) = (range.from, range.to)
            && from >= to
        {
            return Ok(());
        }
        let from = range.from.map_or(Bound::Unbounded, Bound::Included);
        let to = range.to.map_or(Bound::Unbounded, Bound::Excluded);
        let mut pairs = self.map(table).range::<[u8], _>((from, to));
        let mut next = || match direction {
            Direction::Forward => pairs.next(),
            Direction::Backward => pairs.next_back(),
        };
        while let Some((key, value)) = next() {
            if let ControlFlow::Break(()) = visit(key, value) {
                break;
            }
        }
        Ok(())
    }
}
