//! A client of the hybrid: the front store, a recorder of its changes, and a connection to the
//! mirror.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use embermark_contract::kv::mirror::Mirror;
use embermark_contract::kv::{KvStore, Pairs, Table, TableDef, Work};
use embermark_contract::{Result, Scope};

use crate::catalog::{Catalog, Entry, TABLES};
use crate::mirror::Connection;
use crate::mirror_thread::MirrorThread;
use crate::recording::{ChangeRecorder, SingleOperations, TableNumbers};
use crate::shared::Shared;
use crate::{Options, cold};

mod mirroring;

/// Client of a key-value store with a mirror. It has the front's tables, and adds
/// [`KvStore::mirror`] to the front's interface.
pub struct Hybrid {
    pub(crate) front: Box<dyn KvStore>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) recorder: ChangeRecorder,
    /// The tables' numbers in [`Catalog`], by their numbers in the front.
    pub(crate) numbers: TableNumbers,
    /// The tables' numbers in the front, by their numbers in [`Catalog`].
    pub(crate) tables: [Option<Table>; TABLES],
    /// The tables' names and key lengths.
    names: [Option<(String, Option<usize>)>; TABLES],
    /// Buffer for the value of a single `get`.
    value: Vec<u8>,
    pub(crate) connection: Option<Connection>,
    /// Reference that counts this client among the clients.
    _client: Arc<()>,
    /// Present in the client that opened the database.
    pub(crate) thread_guard: Option<MirrorThreadGuard>,
    /// Whether closing simulates a crash.
    pub(crate) crashes: bool,
}

/// Ends the mirror's thread when the client that started it is dropped.
pub(crate) struct MirrorThreadGuard(Arc<Shared>);

impl Drop for MirrorThreadGuard {
    fn drop(&mut self) {
        self.0.mirror_thread.end();
    }
}

impl Hybrid {
    /// Makes a hybrid of an open front. The mirror is opened when it is first needed.
    ///
    /// # Errors
    /// The front's error.
    pub fn open(mut front: Box<dyn KvStore>, options: Options) -> Result<Self> {
        let catalog = Catalog::open(&mut *front)?;
        let shared = Arc::new(Shared::new(options, MirrorThread::start()?));
        let archived = catalog.cold.archived_tables(&mut *front)?;
        cold::check_files(&shared, &archived)?;
        for (id, of_table) in archived {
            shared.cold.update(id, |known| *known = of_table);
        }
        let stamp = catalog.stamp(&mut *front)?;
        let ends = catalog.record_range(&mut *front)?;
        let next = stamp.map_or(1, |stamp| stamp.next);
        let next = ends.map_or(next, |(_, newest)| next.max(newest + 1));
        shared.next.store(next, Ordering::Release);
        shared.oldest.store(ends.map_or(next, |(oldest, _)| oldest), Ordering::Release);
        shared.committed.store(next - 1, Ordering::Release);
        // A mirror that was closed properly would miss changes that are not recorded.
        shared.recording.store(stamp.is_some(), Ordering::Release);
        let thread_guard = MirrorThreadGuard(Arc::clone(&shared));
        let mut hybrid = Self::new(front, catalog, shared);
        hybrid.thread_guard = Some(thread_guard);
        hybrid.refresh_in_background(true).map(|()| hybrid)
    }

    /// Makes a further client, over a further client of the front.
    pub(crate) fn new_client(mut front: Box<dyn KvStore>, shared: Arc<Shared>) -> Result<Self> {
        let catalog = Catalog::open(&mut *front)?;
        Ok(Self::new(front, catalog, shared))
    }

    fn new(front: Box<dyn KvStore>, catalog: Catalog, shared: Arc<Shared>) -> Self {
        Self {
            front,
            _client: Arc::clone(&shared.clients),
            shared,
            recorder: ChangeRecorder::new(catalog),
            numbers: TableNumbers::default(),
            tables: [None; TABLES],
            names: [const { None }; TABLES],
            value: Vec::new(),
            connection: None,
            thread_guard: None,
            crashes: false,
        }
    }

    /// Starts or stops the background refresh of the mirror, if the options ask for it.
    fn refresh_in_background(&mut self, starts: bool) -> Result<()> {
        if self.thread_guard.is_none() || self.shared.options.refresh_every.is_none() {
            return Ok(());
        }
        let opener = if starts { Some(self.front.open_client()?) } else { None };
        self.shared.mirror_thread.set_front(&self.shared, opener)
    }

    /// Runs work that needs exclusive access, with the background refresh paused.
    pub(crate) fn with_exclusive_access<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.refresh_in_background(false)?;
        let done = work(self);
        let again = self.refresh_in_background(true);
        done.and_then(|done| again.map(|()| done))
    }

    /// Records that a whole table has changed, if its changes are recorded.
    fn after_table_change(&mut self, table: Table) -> Result<()> {
        let Self { front, shared, recorder, numbers, .. } = self;
        match numbers.get(table).filter(|id| shared.is_recorded(*id)) {
            Some(id) => recorder.record_table_change(&mut **front, shared, id).map(drop),
            None => Ok(()),
        }
    }

    /// Discards the mirror if its change records exceed the limit.
    fn enforce_log_limit(&mut self) -> Result<()> {
        let shared = &self.shared;
        if shared.recorded_bytes.load(Ordering::Acquire) <= shared.options.log_limit {
            return Ok(());
        }
        let shared = Arc::clone(shared);
        let _state = shared.state();
        if shared.recorded_bytes.swap(0, Ordering::AcqRel) > shared.options.log_limit {
            shared.report("too much has changed since the last query: the mirror is discarded");
            self.give_up()?;
        }
        Ok(())
    }
}

impl KvStore for Hybrid {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let table = self.front.table(def)?;
        let Entry { id, mirrored } = self.recorder.catalog.entry(&mut *self.front, def.name)?;
        self.numbers.set(table, id);
        self.tables[usize::from(id)] = Some(table);
        self.names[usize::from(id)] = Some((def.name.to_owned(), def.key_length));
        if mirrored {
            self.shared.mark_mirrored(id);
        }
        Ok(table)
    }

    fn keeps_indexes(&self) -> bool {
        self.front.keeps_indexes()
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.with_exclusive_access(|hybrid| {
            let shared = Arc::clone(&hybrid.shared);
            let _run_lock = shared.cold.lock_runs();
            let cleared = hybrid.clear_cold(table)?;
            hybrid.front.clear(table)?;
            hybrid.after_table_change(table)?;
            let chunks = cleared.as_deref().map(|archived| archived.chunks());
            hybrid.remove_files(chunks.unwrap_or_default())
        })
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if self.numbers.get(table).is_some_and(|id| self.shared.cold.is_archived(id)) {
            return self.bulk_recorded(table, pairs);
        }
        let loaded = self.front.bulk(table, pairs)?;
        self.after_table_change(table).map(|()| loaded)
    }

    fn bulk_sorted(&self) -> bool {
        self.front.bulk_sorted()
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        if scope == Scope::Snapshot || !self.shared.has_mirrored_tables() {
            return self.front.transact(scope, work);
        }
        let Self { front, shared, recorder, numbers, value, .. } = self;
        let (front, shared) = (&mut **front, &**shared);
        match scope {
            Scope::Batch => recorder.batch(front, (shared, numbers), |batch| work(batch))?,
            _ => work(&mut SingleOperations { front, recorder, shared, numbers, value })?,
        }
        self.enforce_log_limit()
    }

    fn mirror(&mut self) -> Option<&mut dyn Mirror> {
        Some(self)
    }
}
