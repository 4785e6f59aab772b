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

/// The state that all clients of this process work on.
pub(crate) struct Shared {
    pub options: Options,
    pub keeper: Keeper,
    /// Whether changes are recorded. They are while there is a mirror that they would be missed in.
    pub noting: AtomicBool,
    /// A bit for each table that is shown, by its number.
    shown: AtomicU64,
    /// The number of the next record.
    pub next: AtomicU64,
    /// The newest record whose transaction was acknowledged.
    pub committed: AtomicU64,
    /// The newest record whose changes are in the mirror.
    pub applied: AtomicU64,
    /// The oldest record that may be there; each transaction that writes removes some.
    pub oldest: AtomicU64,
    /// Bytes of records since the mirror was last brought up to date.
    pub noted: AtomicU64,
    /// The number of the mirror that is open and holds what [`applied`](Self::applied) says; 0: none.
    current: AtomicU64,
    /// Who has it brings changes to the mirror.
    state: Mutex<State>,
    /// The tables shown, by their numbers.
    tables: RwLock<[Option<Shown>; TABLES]>,
    router: Mutex<Router>,
    /// The chunks that left the mirror, and maybe the front.
    pub cold: Cold,
    /// Each client has another one of it.
    pub clients: Arc<()>,
}

/// Stands in the names of what the hybrid itself keeps in the mirror, beside tables and columns whose names
/// are ASCII: none of theirs is one of ours. A letter to DuckDB's parser.
pub(crate) const OWN: char = '·';

/// A table that is shown.
#[derive(Clone)]
pub(crate) struct Shown {
    /// The front's table,
    pub table: String,
    /// and the length of its keys, where they all have the same.
    pub key_length: Option<usize>,
    /// What its pairs mean.
    pub decode: Arc<dyn Decode>,
    /// The table of its rows in the mirror: without a key, whose index would cost more than it finds.
    pub rows: &'static TableDef,
    /// A table of keys alone, for those whose rows are to go.
    pub gone: &'static TableDef,
    /// A table of the keys whose rows in chunks are invalid, up to the run of a number.
    pub overlay: &'static TableDef,
    /// A table of rows on their way to a chunk.
    pub part: &'static TableDef,
}

impl Shown {
    /// Its tables live as long as the process: there are as many as a program has kinds of rows.
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

    /// Its name in questions.
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

    /// Waits for who works on the mirror. Whoever panicked at it has left one that is not to be used.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| self.restored(poisoned.into_inner()))
    }

    /// The same, unless somebody works on it.
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

    /// Says which mirror is open and whole. Whoever says it has the state.
    pub(crate) fn set_current(&self, generation: Option<u64>) {
        self.current.store(generation.unwrap_or(0), Ordering::Release);
    }

    /// The number of the mirror that is open.
    #[inline]
    pub(crate) fn current(&self) -> Option<u64> {
        Some(self.current.load(Ordering::Acquire)).filter(|number| *number > 0)
    }

    pub(crate) fn router(&self) -> MutexGuard<'_, Router> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes of a table are to be recorded.
    #[inline]
    pub(crate) fn is_noted(&self, id: u8) -> bool {
        self.noting.load(Ordering::Acquire) && self.shown.load(Ordering::Acquire) >> id & 1 == 1
    }

    /// Whether what changes has to be looked at: a transaction sees itself whether it is to be recorded,
    /// since that may begin before it does.
    #[inline]
    pub(crate) fn watches(&self) -> bool {
        self.shown.load(Ordering::Acquire) != 0
    }

    /// Whether there is one client, who asks.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.clients) <= 2
    }

    /// The files of the chunks.
    pub(crate) fn files(&self) -> Files<'_> {
        Files(&self.options.cold)
    }

    /// Says that a table was shown, in this process or before it.
    pub(crate) fn set_shown(&self, id: u8) {
        self.shown.fetch_or(1 << id, Ordering::AcqRel);
    }

    /// Has a table shown; whether it was shown otherwise, or not at all.
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

    /// A table that is shown.
    pub(crate) fn shown(&self, id: u8) -> Option<Shown> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)[usize::from(id)].clone()
    }

    /// Every table that is shown, with its number.
    pub(crate) fn all_shown(&self) -> Vec<(u8, Shown)> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let numbered = (0..).zip(tables.iter());
        numbered.filter_map(|(id, shown)| Some((id, shown.clone()?))).collect()
    }

    /// Whether the mirror lacks nothing that was acknowledged. (It is open, as who asks has seen.)
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
