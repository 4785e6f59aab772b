//! `null`: an engine that does nothing. The time that the harness takes with it is the harness's
//! own overhead.

use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::reference::Reference;
use crate::{ClientOpener, Join, Lifecycle, Result, Scope, Store};

pub(crate) static ENGINE: Reference = Reference {
    id: "null",
    name: "null (does nothing)",
    setting: "keeps nothing",
    open: || Box::new(Nothing::new()),
};

/// Every key has the same value: zeros, as many as the first inserted value has, or before that as
/// many as a stored reading has.
struct Nothing {
    value: Vec<u8>,
    is_put: bool,
}

impl Nothing {
    fn new() -> Self {
        Self { value: vec![0; 33], is_put: false }
    }

    /// Makes every value as long as the first one.
    #[inline]
    fn take(&mut self, value: &[u8]) {
        if !self.is_put {
            self.is_put = true;
            self.value = vec![0; value.len()];
        }
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
        Ok(ClientOpener::new(|| Ok(Store::Kv(Box::new(Nothing::new())))))
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
        self.is_put = false;
        Ok(())
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    fn bulk(&mut self, _: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut rows = 0;
        while let Some((_, value)) = pairs.next() {
            self.take(value);
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
        Ok(Some(&self.value))
    }

    fn put(&mut self, _: Table, _: &[u8], value: &[u8]) -> Result<()> {
        self.take(value);
        Ok(())
    }

    fn modify(&mut self, _: Table, _: &[u8], change: &mut Change<'_>) -> Result<bool> {
        change(&mut self.value);
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
