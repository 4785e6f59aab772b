//! A tape between a workload and a store of pairs.

use std::ops::ControlFlow;

use embermark_contract::kv::{
    Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use embermark_contract::sql::Param;
use embermark_contract::{Result, Scope};

use crate::operations::Code;
use crate::tape::{Mode, Tape};
use crate::taped::Taped;

/// A store of pairs whose calls go through a tape. Its tables are recorded by their names.
pub(crate) type TapedPairs = Taped<dyn KvStore, String>;

impl KvStore for TapedPairs {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.store.table(def)?;
        self.name(table.0, def.name.to_owned());
        Ok(table)
    }

    fn keeps_indexes(&self) -> bool {
        self.store.keeps_indexes()
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.store.clear(table)
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if self.tape.mode() == Mode::Through {
            return self.store.bulk(table, pairs);
        }
        let name = &self.named[table.0];
        self.tape.load(|operations| {
            let Some((key, value)) = pairs.next() else { return false };
            if let Some(operations) = operations {
                let number = operations.table(name, &[]);
                operations.call(Code::Bulk, number, [Param::Bytes(key), Param::Bytes(value)]);
            }
            true
        })
    }

    fn bulk_sorted(&self) -> bool {
        self.store.bulk_sorted()
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { store, tape, named: names } = self;
        match tape.mode() {
            Mode::Through => store.transact(scope, work),
            Mode::Record => {
                tape.note(|operations| match scope {
                    Scope::PerOperation => operations.end_operation(),
                    Scope::Snapshot => operations.begin(false),
                    Scope::Batch => operations.begin(true),
                });
                // In any scope: nothing is changed here.
                let done = store.transact(Scope::Snapshot, &mut |inner| {
                    work(&mut Recorded { inner, tape, names, value: Vec::new() })
                });
                tape.note(crate::Operations::commit);
                done
            }
            Mode::Play => work(&mut Played { tape, value: Vec::new() }),
        }
    }

    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        self.store.delete_range(table, from, to)
    }

    fn deletes_range(&self, table: Table) -> &'static str {
        self.store.deletes_range(table)
    }
}

/// Operations that are recorded. Reads are also executed.
struct Recorded<'a> {
    inner: &'a mut dyn Operations,
    tape: &'a Tape,
    names: &'a [String],
    value: Vec<u8>,
}

impl Recorded<'_> {
    fn call(&self, code: Code, table: Table, params: &[Param<'_>]) {
        self.tape.note(|operations| {
            let number = operations.table(&self.names[table.0], &[]);
            operations.call(code, number, params.iter().copied());
        });
    }
}

impl Operations for Recorded<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.call(Code::Get, table, &[Param::Bytes(key)]);
        self.inner.get(table, key)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (mut visited, mut is_cut) = (0, false);
        self.inner.scan(table, range, &mut |key, value| {
            visited += 1;
            let on = visit(key, value);
            is_cut = on.is_break();
            on
        })?;
        let way = if range.direction == Direction::Forward { 1 } else { -1 };
        let most = if is_cut { Param::Int(visited) } else { Param::Null };
        self.call(Code::Scan, table, &[bound(range.from), bound(range.to), Param::Int(way), most]);
        Ok(())
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        let counted = self.inner.count(table)?;
        if counted.is_some() {
            self.call(Code::Count, table, &[]);
        }
        Ok(counted)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.call(Code::Put, table, &[Param::Bytes(key), Param::Bytes(value)]);
        Ok(())
    }

    /// Reads the value and puts the changed one, like a program whose package cannot change a value
    /// in place.
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.call(Code::Get, table, &[Param::Bytes(key)]);
        let Some(value) = self.inner.get(table, key)? else { return Ok(false) };
        let mut changed = value.to_vec();
        change(&mut changed);
        self.call(Code::Put, table, &[Param::Bytes(key), Param::Bytes(&changed)]);
        self.value = changed;
        Ok(true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.call(Code::Delete, table, &[Param::Bytes(key)]);
        self.inner.get(table, key).map(|value| value.is_some())
    }
}

/// Returns the end of a range as a parameter.
fn bound(bytes: Option<&[u8]>) -> Param<'_> {
    bytes.map_or(Param::Null, Param::Bytes)
}

/// Operations with the program's answers.
struct Played<'a> {
    tape: &'a Tape,
    value: Vec<u8>,
}

impl Played<'_> {
    /// Reads a value into `value`. Returns whether there is one.
    fn read(&mut self) -> Result<bool> {
        let Self { tape, value } = self;
        tape.answer(|answers| {
            let mut is_there = false;
            answers.rows(Code::Get, &mut |row| {
                if let Some(bytes) = row.bytes(0)? {
                    value.clear();
                    value.extend_from_slice(bytes);
                    is_there = true;
                }
                Ok(())
            })?;
            Ok(is_there)
        })
    }

    fn changed(&self, code: Code) -> Result<u64> {
        self.tape.answer(|answers| answers.changed(code))
    }
}

impl Operations for Played<'_> {
    fn get(&mut self, _: Table, _: &[u8]) -> Result<Option<&[u8]>> {
        Ok(if self.read()? { Some(&self.value) } else { None })
    }

    fn scan(&mut self, _: Table, _: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.tape.answer(|answers| {
            let mut on = ControlFlow::Continue(());
            answers.rows(Code::Scan, &mut |row| {
                if let (true, Some(key), Some(value)) =
                    (on.is_continue(), row.bytes(0)?, row.bytes(1)?)
                {
                    on = visit(key, value);
                }
                Ok(())
            })
        })
    }

    fn count(&mut self, _: Table) -> Result<Option<u64>> {
        self.tape.answer(|answers| match answers.is_next(Code::Count) {
            true => answers.changed(Code::Count).map(Some),
            false => Ok(None),
        })
    }

    fn put(&mut self, _: Table, _: &[u8], _: &[u8]) -> Result<()> {
        self.changed(Code::Put).map(drop)
    }

    fn modify(&mut self, _: Table, _: &[u8], change: &mut Change<'_>) -> Result<bool> {
        if !self.read()? {
            return Ok(false);
        }
        change(&mut self.value);
        self.changed(Code::Put).map(|_| true)
    }

    fn delete(&mut self, _: Table, _: &[u8]) -> Result<bool> {
        self.changed(Code::Delete).map(|removed| removed > 0)
    }
}
