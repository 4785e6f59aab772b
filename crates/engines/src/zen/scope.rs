//! The operations of each scope.

use std::ops::ControlFlow;

use super::NAME;
use super::client::int;
use super::ffi::Comparison;
use super::file::PRIMARY;
use super::scan::start;
use super::store::Isam;
use super::table::IsamTable;
use crate::kv::{
    Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use crate::{EngineError, Result, Scope};

/// The operations of a scope. Single operations each have a transaction of their own, if the tier
/// wants one.
pub(super) struct Scoped<'a>(pub &'a mut Isam, pub Scope);

impl Scoped<'_> {
    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut Isam) -> Result<T>) -> Result<T> {
        match self.1 {
            Scope::Batch => change(self.0),
            Scope::PerOperation => self.0.within(change),
            Scope::Snapshot => {
                let why = "this scope is a snapshot, which only reads";
                Err(EngineError::failed(NAME, "change a record", why))
            }
        }
    }
}

impl Operations for Scoped<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let length = self.0.fetch(table, key)?;
        Ok(length.map(|length| &self.0.record[key.len()..length]))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let table = &self.0.tables[table.0];
        let (key_length, direction) = (table.key_length, range.direction);
        self.0.key.resize(key_length, 0);
        let start = start(range, &mut self.0.key);
        let mut walk = table.walk(PRIMARY, direction, &mut self.0.record)?;
        walk.go(start, &mut |record| {
            let (key, value) = record.split_at(key_length);
            let beyond = match direction {
                Direction::Forward => range.to.is_some_and(|to| key >= to),
                Direction::Backward => range.from.is_some_and(|from| key < from),
            };
            if beyond { ControlFlow::Break(()) } else { visit(key, value) }
        })
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let table = &self.0.tables[table.0];
        let from = range.from.unwrap_or_default();
        let field = table.indexes.get(index).copied().filter(|f| f.length >= from.len());
        let field = field.ok_or_else(|| {
            let (length, name) = (from.len(), &table.name);
            let what = format!("index {index} over {length} bytes, which table {name} has not");
            EngineError::unsupported(NAME, what)
        })?;
        // The lowest bytes that have this beginning.
        let mut lowest = from.to_vec();
        lowest.resize(field.length, 0);
        let key_length = table.key_length;
        let mut walk = table.walk(int(index + 1), Direction::Forward, &mut self.0.record)?;
        walk.go(Some((Comparison::GreaterThanOrEqual, &lowest[..])), &mut |record| {
            if range.to.is_some_and(|to| record[field.at..field.end()] >= *to) {
                return ControlFlow::Break(());
            }
            let (key, value) = record.split_at(key_length);
            visit(key, value)
        })
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(|isam| isam.replace(table, key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.change(|isam| {
            let Some(length) = isam.fetch(table, key)? else { return Ok(false) };
            change(&mut isam.record[key.len()..length]);
            isam.tables[table.0].file()?.update(&isam.record[..length])?;
            Ok(true)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.change(|isam| {
            let found = isam.fetch(table, key)?.is_some();
            if found {
                isam.tables[table.0].file()?.delete()?;
            }
            Ok(found)
        })
    }
}

impl KvStore for Isam {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.tables.iter().position(|table| table.name == def.name) {
            return Ok(Table(known));
        }
        let table = IsamTable::open(&self.client, &self.dir, self.mode, def)?;
        self.tables.push(table);
        Ok(Table(self.tables.len() - 1))
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.tables[table.0].clear(&self.client, self.mode)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.within(|store| store.load(table, pairs))
    }

    /// A snapshot needs no transaction of the engine: no other client changes the files. Accelerated
    /// mode has no transactions, so a batch that fails leaves what it has done until then.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        match scope {
            Scope::Batch => self.within(|isam| work(&mut Scoped(isam, scope))),
            Scope::Snapshot | Scope::PerOperation => work(&mut Scoped(self, scope)),
        }
    }
}
