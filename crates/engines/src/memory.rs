//! `memory`: a sorted map in the process, as the physical limit of an engine.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::kv::{
    Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use crate::reference::Reference;
use crate::{Checked, ClientOpener, EngineError, Join, Lifecycle, Result, Scope};

pub(crate) static ENGINE: Reference = Reference {
    id: "memory",
    name: "sorted map in memory",
    setting: "in memory only",
    open: || Box::new(Maps::default()),
};

/// Short keys and values are stored in the map's nodes, so that a search follows no pointer per
/// compared key.
type Key = SmallVec<[u8; 16]>;
type Value = SmallVec<[u8; 40]>;
type Map = BTreeMap<Key, Value>;

#[derive(Default)]
struct Maps {
    tables: Vec<(String, Map)>,
}

impl Lifecycle for Maps {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    /// Impossible: only the maps exist, and a newly started program would have none.
    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(Ok(()))
    }

    fn join(&self) -> Join {
        Join::Exclusive("it is a map in this process's memory")
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: it is a map without a lock";
        Err(EngineError::unsupported("memory", what))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery: a map in memory dies with its process";
        Err(EngineError::unsupported("memory", what))
    }

    fn check(&mut self) -> Result<Checked> {
        Err(EngineError::unsupported("memory", "a check: it has nothing on disk"))
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

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        // Builds the map from a sorted vector, which is its bulk path.
        let mut all: Vec<(Key, Value)> = Vec::new();
        while let Some((key, value)) = pairs.next() {
            all.push((key.into(), value.into()));
        }
        let rows = all.len() as u64;
        *self.map(table) = all.into_iter().collect();
        Ok(rows)
    }

    /// The maps have no transactions, so all scopes are the same.
    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Maps {
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

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let found = self.map(table).get_mut(key);
        Ok(found.map(|value| change(value)).is_some())
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        Ok(self.map(table).remove(key).is_some())
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let mut pairs = self.map(table).range::<[u8], _>(range.bounds());
        let mut next = || match range.direction {
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
