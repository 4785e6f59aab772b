//! A client of the hybrid: the front store, the records of its changes, and a connection to the
//! mirror.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use embermark_contract::kv::mirror::Mirror;
use embermark_contract::kv::{KvStore, Pairs, Table, TableDef, Work};
use embermark_contract::{Result, Scope};

use crate::books::{Books, Entry, TABLES};
use crate::mirror::Connection;
use crate::noting::{Each, Note, Numbers};
use crate::shared::Shared;

mod mirroring;

/// One client of a key-value store with a mirror. Its tables are the front's. It adds
/// [`KvStore::mirror`].
pub struct Hybrid {
    pub(crate) front: Box<dyn KvStore>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) note: Note,
    /// The tables' numbers in [`Books`], by their numbers in the front.
    pub(crate) numbers: Numbers,
    /// The tables' numbers in the front, by their numbers in [`Books`].
    pub(crate) tables: [Option<Table>; TABLES],
    /// The tables' names and key lengths.
    names: [Option<(String, Option<usize>)>; TABLES],
    /// The value of a single `get`.
    value: Vec<u8>,
    pub(crate) connection: Option<Connection>,
    /// Counts this client among the clients.
    _client: Arc<()>,
    /// Present in the client that opened the database.
    pub(crate) first: Option<First>,
    /// Whether closing simulates a crash.
    pub(crate) crashes: bool,
}

/// Ends the mirror's thread with the client that started it.
pub(crate) struct First(pub Arc<Shared>);

impl Drop for First {
    fn drop(&mut self) {
        self.0.keeper.end();
    }
}

impl Hybrid {
    /// Makes a further client, over a further client of the front.
    pub(crate) fn join(mut front: Box<dyn KvStore>, shared: Arc<Shared>) -> Result<Self> {
        let books = Books::open(&mut *front)?;
        Ok(Self::over(front, books, shared))
    }

    pub(crate) fn over(front: Box<dyn KvStore>, books: Books, shared: Arc<Shared>) -> Self {
        Self {
            front,
            _client: Arc::clone(&shared.clients),
            shared,
            note: Note::new(books),
            numbers: Numbers::default(),
            tables: [None; TABLES],
            names: [const { None }; TABLES],
            value: Vec::new(),
            connection: None,
            first: None,
            crashes: false,
        }
    }

    /// Starts the background refresh of the mirror, if the options ask for it.
    pub(crate) fn keep_fresh(&mut self) -> Result<()> {
        if self.first.is_some() && self.shared.options.refresh_every.is_some() {
            let opener = self.front.open_client()?;
            self.shared.keeper.front(Some(opener))?;
        }
        Ok(())
    }

    /// Does work that needs exclusive access, with the background refresh paused.
    pub(crate) fn alone<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let in_background = self.first.is_some() && self.shared.options.refresh_every.is_some();
        if in_background {
            self.shared.keeper.front(None)?;
        }
        let done = work(self);
        let again = if in_background { self.keep_fresh() } else { Ok(()) };
        done.and_then(|done| again.map(|()| done))
    }

    /// Records that a whole table has changed, if its changes are recorded.
    fn changed(&mut self, table: Table) -> Result<()> {
        let Self { front, shared, note, numbers, .. } = self;
        match numbers.get(table).filter(|id| shared.is_noted(*id)) {
            Some(id) => note.all_of(&mut **front, shared, Some(id)).map(drop),
            None => Ok(()),
        }
    }

    /// Gives up the mirror if there are too many records.
    fn limit(&mut self) -> Result<()> {
        let shared = &self.shared;
        if shared.noted.load(Ordering::Acquire) <= shared.options.log_limit {
            return Ok(());
        }
        let shared = Arc::clone(shared);
        let _state = shared.state();
        if shared.noted.swap(0, Ordering::AcqRel) > shared.options.log_limit {
            shared.tell("too much has changed since a question was asked: the mirror is given up");
            self.give_up()?;
        }
        Ok(())
    }
}

impl KvStore for Hybrid {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.front.table(def)?;
        let Entry { id, shown } = self.note.books.entry(&mut *self.front, def.name)?;
        self.numbers.set(table, id);
        self.tables[usize::from(id)] = Some(table);
        self.names[usize::from(id)] = Some((def.name.to_owned(), def.key_length));
        if shown {
            self.shared.set_shown(id);
        }
        Ok(table)
    }

    fn keeps_indexes(&self) -> bool {
        self.front.keeps_indexes()
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.alone(|hybrid| {
            let shared = Arc::clone(&hybrid.shared);
            let _busy = shared.cold.busy();
            let cleared = hybrid.clear_cold(table)?;
            hybrid.front.clear(table)?;
            hybrid.changed(table)?;
            hybrid.remove(cleared)
        })
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if self.numbers.get(table).is_some_and(|id| self.shared.cold.has(id)) {
            return self.bulk_noted(table, pairs);
        }
        let loaded = self.front.bulk(table, pairs)?;
        self.changed(table).map(|()| loaded)
    }

    fn bulk_sorted(&self) -> bool {
        self.front.bulk_sorted()
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        if scope == Scope::Snapshot || !self.shared.watches() {
            return self.front.transact(scope, work);
        }
        let Self { front, shared, note, numbers, value, .. } = self;
        let (front, shared) = (&mut **front, &**shared);
        match scope {
            Scope::Batch => note.batch(front, (shared, numbers), |batch| work(batch))?,
            _ => work(&mut Each { front, note, shared, numbers, value })?,
        }
        self.limit()
    }

    fn mirror(&mut self) -> Option<&mut dyn Mirror> {
        Some(self)
    }
}
