//! What the clients of one hybrid share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use embermark_contract::kv::mirror::Decode;
use embermark_contract::sql::{Nullable, SqlType, TableDef};

use crate::Options;
use crate::books::TABLES;
use crate::cold::{Cold, Files, RUN};
use crate::keeper::Keeper;
use crate::router::Router;
use crate::state::State;

/// The state that all clients of this process use.
pub(crate) struct Shared {
    pub options: Options,
    pub keeper: Keeper,
    /// Whether changes are recorded. They are while there is a mirror that needs them.
    pub noting: AtomicBool,
    /// A bit for each table that is shown, by its number.
    shown: AtomicU64,
    /// Number of the next record.
    pub next: AtomicU64,
    /// The newest record whose transaction was acknowledged.
    pub committed: AtomicU64,
    /// The newest record whose changes are in the mirror.
    pub applied: AtomicU64,
    /// The oldest record that may exist. Each write transaction removes some.
    pub oldest: AtomicU64,
    /// Bytes of records since the mirror was last brought up to date.
    pub noted: AtomicU64,
    /// Number of the open mirror that holds what [`applied`](Self::applied) says. 0: none.
    current: AtomicU64,
    /// Held to transfer changes to the mirror.
    state: Mutex<State>,
    /// The shown tables, by their numbers.
    tables: RwLock<[Option<Shown>; TABLES]>,
    router: Mutex<Router>,
    /// The chunks that left the mirror, and maybe the front.
    pub cold: Cold,
    /// Each client has a clone of it.
    pub clients: Arc<()>,
}

/// Part of the names of what the hybrid itself keeps in the mirror. Tables and columns have ASCII
/// names, so none of them collides. It is a letter to DuckDB's parser.
pub(crate) const OWN: char = '·';

/// A table that is shown.
#[derive(Clone)]
pub(crate) struct Shown {
    /// Name of the front's table.
    pub table: String,
    /// Length of its keys, if they all have the same.
    pub key_length: Option<usize>,
    /// Meaning of its pairs.
    pub decode: Arc<dyn Decode>,
    /// The table of its rows in the mirror. It has no key, whose index would cost more than it
    /// saves.
    pub rows: &'static TableDef,
    /// A table of only keys, for those whose rows are to be removed.
    pub gone: &'static TableDef,
    /// A table of the keys whose rows in chunks are invalid, up to the run with a number.
    pub overlay: &'static TableDef,
    /// A table of rows on their way to a chunk.
    pub part: &'static TableDef,
}

impl Shown {
    /// Makes it. Its table definitions live as long as the process: there are as many as a program
    /// has kinds of rows.
    fn new((table, key_length): (String, Option<usize>), decode: Arc<dyn Decode>) -> Self {
        let of = *decode.rows();
        let table_of = |what: &str, columns| {
            let name = format!("{}{OWN}{what}", of.name).leak();
            &*Box::leak(Box::new(TableDef { name, columns, key: &[] }))
        };
        let columns = &of.columns[..of.key.len().min(of.columns.len())];
        let overlay = [columns, &[(RUN, SqlType::Big, Nullable::No)]].concat().leak();
        Self {
            table,
            key_length,
            decode,
            rows: table_of("hot", of.columns),
            gone: table_of("gone", columns),
            overlay: table_of("overlay", overlay),
            part: table_of("part", of.columns),
        }
    }

    /// Returns its name in queries.
    pub(crate) fn name(&self) -> &'static str {
        self.rows.name.split(OWN).next().unwrap_or(self.rows.name)
    }
}

impl Shared {
    pub(crate) fn new(options: Options, keeper: Keeper) -> Self {
        Self {
            options,
            keeper,
            noting: AtomicBool::new(false),
            shown: AtomicU64::new(0),
            next: AtomicU64::new(1),
            committed: AtomicU64::new(0),
            applied: AtomicU64::new(0),
            oldest: AtomicU64::new(1),
            noted: AtomicU64::new(0),
            current: AtomicU64::new(0),
            state: Mutex::default(),
            tables: RwLock::new([const { None }; TABLES]),
            router: Mutex::default(),
            cold: Cold::default(),
            clients: Arc::default(),
        }
    }

    /// Waits until no other client works on the mirror. After a panic the mirror is not used any
    /// more.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| self.restored(poisoned.into_inner()))
    }

    /// Does the same, unless another client works on it.
    pub(crate) fn idle_state(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(self.restored(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn restored<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.set_current(None);
        self.state.clear_poison();
        state
    }

    /// Sets which mirror is open and complete. The caller must hold the state.
    pub(crate) fn set_current(&self, generation: Option<u64>) {
        self.current.store(generation.unwrap_or(0), Ordering::Release);
    }

    /// Returns the number of the open mirror.
    #[inline]
    pub(crate) fn current(&self) -> Option<u64> {
        Some(self.current.load(Ordering::Acquire)).filter(|number| *number > 0)
    }

    pub(crate) fn router(&self) -> MutexGuard<'_, Router> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes of a table must be recorded.
    #[inline]
    pub(crate) fn is_noted(&self, id: u8) -> bool {
        self.noting.load(Ordering::Acquire) && self.shown.load(Ordering::Acquire) >> id & 1 == 1
    }

    /// Whether changes must be examined. A transaction itself decides whether to record, because
    /// recording may begin before the transaction does.
    #[inline]
    pub(crate) fn watches(&self) -> bool {
        self.shown.load(Ordering::Acquire) != 0
    }

    /// Whether the querying client is the only one.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.clients) <= 2
    }

    /// Returns the files of the chunks.
    pub(crate) fn files(&self) -> Files<'_> {
        Files(&self.options.cold)
    }

    /// Marks a table as shown, in this process or an earlier one.
    pub(crate) fn set_shown(&self, id: u8) {
        self.shown.fetch_or(1 << id, Ordering::AcqRel);
    }

    /// Shows a table. Returns whether it was shown differently or not at all before.
    pub(crate) fn show(
        &self,
        id: u8,
        table: (String, Option<usize>),
        decode: Arc<dyn Decode>,
    ) -> bool {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let place = &mut tables[usize::from(id)];
        let same = place.as_ref().is_some_and(|known| is_same(&*known.decode, &*decode));
        self.cold.show(id, &decode);
        if !same {
            *place = Some(Shown::new(table, decode));
        }
        self.set_shown(id);
        !same
    }

    /// Returns a shown table.
    pub(crate) fn shown(&self, id: u8) -> Option<Shown> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)[usize::from(id)].clone()
    }

    /// Returns every shown table with its number.
    pub(crate) fn all_shown(&self) -> Vec<(u8, Shown)> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let numbered = (0..).zip(tables.iter());
        numbered.filter_map(|(id, shown)| Some((id, shown.clone()?))).collect()
    }

    /// Whether the mirror has everything that was acknowledged. The caller has checked that it is
    /// open.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.noting.load(Ordering::Acquire)
            && self.applied.load(Ordering::Acquire) >= self.committed.load(Ordering::Acquire)
    }

    pub(crate) fn tell(&self, what: &str) {
        (self.options.tell)(what);
    }
}

fn is_same(a: &dyn Decode, b: &dyn Decode) -> bool {
    let (rows, other) = (a.rows(), b.rows());
    a.version() == b.version()
        && (rows.name, rows.columns, rows.key) == (other.name, other.columns, other.key)
}
