//! `null`: an engine that does nothing. What the harness takes on it is the harness's own floor.

use embermark_model::Durability;

use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::{
    Availability, ClientOpener, DataModel, Engine, Info, Join, Kind, Lifecycle, OpenOptions,
    Opened, Result, Scope, Store, Tier,
};

/// The engine.
pub(crate) struct Null;

/// Every key has this value, as long as a stored reading's.
static VALUE: [u8; 33] = [0; 33];

struct Nothing;

impl Engine for Null {
    fn info(&self) -> Info {
        Info {
            id: "null",
            name: "null (does nothing)",
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
        Tier::Offered {
            effective_durability: Durability::None,
            setting: "keeps nothing",
            manual: "",
        }
    }

    fn open(&self, _: &OpenOptions) -> Result<Opened> {
        Ok(Opened::embedded(Nothing, env!("CARGO_PKG_VERSION"), []))
    }
}

impl Lifecycle for Nothing {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(Ok(()))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive("it keeps nothing")
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        Ok(ClientOpener::new(|| Ok(Store::Kv(Box::new(Nothing)))))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl KvStore for Nothing {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        Ok(Table(0))
    }

    fn clear(&mut self, _: Table) -> Result<()> {
        Ok(())
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    fn bulk(&mut self, _: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        while pairs.next().is_some() {
            rows += 1;
        }
        Ok(rows)
    }

    fn transact(&mut self, _: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)
    }
}

impl Operations for Nothing {
    fn get(&mut self, _: Table, _: &[u8]) -> Result<Option<&[u8]>> {
        Ok(Some(&VALUE))
    }

    fn put(&mut self, _: Table, _: &[u8], _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn modify(&mut self, _: Table, _: &[u8], change: &mut Change<'_>) -> Result<bool> {
        change(&mut VALUE.clone());
        Ok(true)
    }

    fn delete(&mut self, _: Table, _: &[u8]) -> Result<bool> {
        Ok(true)
    }

    fn scan(&mut self, _: Table, _: Range<'_>, _: &mut Visit<'_>) -> Result<()> {
        Ok(())
    }

    fn find(&mut self, _: Table, _: usize, _: Range<'_>, _: &mut Visit<'_>) -> Result<()> {
        Ok(())
    }
}
