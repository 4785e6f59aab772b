//! State that the clients of one hybrid share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use embermark_contract::kv::mirror::Decode;
use embermark_contract::sql::{Nullable, SqlType, TableDef};

use crate::Options;
use crate::cold::{Cold, RUN};
use crate::mirror_thread::MirrorThread;
use crate::router::Router;

/// The state that all clients of this process use.
pub(crate) struct Shared {
    pub options: Options,
    pub mirror_thread: MirrorThread,
    /// Whether changes are recorded. They are while a mirror needs them.
    pub recording: AtomicBool,
    /// Bit mask of the mirrored tables, by their numbers.
    mirrored: AtomicU64,
    /// Number of the next change record.
    pub next: AtomicU64,
    /// Number of the newest record whose transaction was acknowledged.
    pub committed: AtomicU64,
    /// Number of the newest record whose changes are in the mirror.
    pub applied: AtomicU64,
    /// Number of the oldest record that may exist. Each write transaction removes some.
    pub oldest: AtomicU64,
    /// Bytes of records since the mirror was last brought up to date.
    pub recorded_bytes: AtomicU64,
    /// Number of the open mirror, which has all changes up to [`applied`](Self::applied). 0: no
    /// mirror is open.
    current: AtomicU64,
    /// Held to transfer changes to the mirror.
    state: Mutex<State>,
    /// The mirrored tables, by their numbers.
    tables: RwLock<BTreeMap<u8, MirroredTable>>,
    router: Mutex<Router>,
    /// The chunks that left the mirror, and maybe the front.
    pub cold: Cold,
    /// Each client has a clone of it.
    pub clients: Arc<()>,
}

/// State of the open mirror, which only one client at a time may use.
#[derive(Default)]
pub(crate) struct State {
    /// Number of the latest mirror.
    pub generation: u64,
    pub highest: HighestKeys,
    /// Number of rows changed since the mirror's file was written.
    pub unwritten: u64,
    /// Bit mask of the tables whose view filters out invalid rows of chunks.
    pub overlaid: u64,
}

/// Largest key that may be in the mirror, by the table's number. A missing one is unknown.
pub(crate) type HighestKeys = BTreeMap<u8, Vec<u8>>;

/// Character in the names of the hybrid's own tables in the mirror. The program's tables and
/// columns have ASCII names, so names never collide. DuckDB's parser takes it as a letter.
pub(crate) const INTERNAL: char = '·';

/// A table whose rows are in the mirror.
#[derive(Clone)]
pub(crate) struct MirroredTable {
    /// Name of the front's table.
    pub table: String,
    /// Length of its keys in bytes, if all have the same length.
    pub key_length: Option<usize>,
    /// Decoder of its pairs.
    pub decode: Arc<dyn Decode>,
    /// The table of its rows in the mirror. It has no key, because a key's index would cost more
    /// than it saves.
    pub rows: &'static TableDef,
    /// A temporary table of the keys whose rows are to be removed.
    pub removals: &'static TableDef,
    /// A table of the keys whose rows in chunks are invalid, with the last run for which this holds.
    pub overlay: &'static TableDef,
    /// A temporary table of rows that are being written to a chunk.
    pub part: &'static TableDef,
}

impl MirroredTable {
    /// Makes it. Its table definitions are leaked, because a program has few kinds of rows.
    fn new((table, key_length): (String, Option<usize>), decode: Arc<dyn Decode>) -> Self {
        let of = *decode.rows();
        let table_of = |what: &str, columns| {
            let name = format!("{}{INTERNAL}{what}", of.name).leak();
            &*Box::leak(Box::new(TableDef { name, columns, key: &[] }))
        };
        let columns = &of.columns[..of.key.len().min(of.columns.len())];
        let overlay = [columns, &[(RUN, SqlType::Big, Nullable::No)]].concat().leak();
        Self {
            table,
            key_length,
            decode,
            rows: table_of("hot", of.columns),
            removals: table_of("gone", columns),
            overlay: table_of("overlay", overlay),
            part: table_of("part", of.columns),
        }
    }

    /// Returns its name in queries.
    pub fn name(&self) -> &'static str {
        self.rows.name.split(INTERNAL).next().unwrap_or(self.rows.name)
    }
}

impl Shared {
    pub fn new(options: Options, mirror_thread: MirrorThread) -> Self {
        Self {
            options,
            mirror_thread,
            recording: AtomicBool::new(false),
            mirrored: AtomicU64::new(0),
            next: AtomicU64::new(1),
            committed: AtomicU64::new(0),
            applied: AtomicU64::new(0),
            oldest: AtomicU64::new(1),
            recorded_bytes: AtomicU64::new(0),
            current: AtomicU64::new(0),
            state: Mutex::default(),
            tables: RwLock::default(),
            router: Mutex::default(),
            cold: Cold::default(),
            clients: Arc::default(),
        }
    }

    /// Waits until no other client works on the mirror. After a panic the mirror is not used any
    /// more.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| self.restored(poisoned.into_inner()))
    }

    /// Like [`state`](Self::state), but returns `None` if another client works on the mirror.
    pub fn idle_state(&self) -> Option<MutexGuard<'_, State>> {
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

    /// Sets the number of the mirror that is open and complete. The caller must hold the state.
    pub fn set_current(&self, generation: Option<u64>) {
        self.current.store(generation.unwrap_or(0), Ordering::Release);
    }

    /// Returns the number of the mirror that is open and complete.
    #[inline]
    pub fn current(&self) -> Option<u64> {
        Some(self.current.load(Ordering::Acquire)).filter(|number| *number > 0)
    }

    pub fn router(&self) -> MutexGuard<'_, Router> {
        self.router.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether changes of a table must be recorded.
    #[inline]
    pub fn is_recorded(&self, id: u8) -> bool {
        self.recording.load(Ordering::Acquire)
            && self.mirrored.load(Ordering::Acquire) >> id & 1 == 1
    }

    /// Whether changes must be examined. A transaction itself decides whether to record, because
    /// recording may begin before the transaction does.
    #[inline]
    pub fn has_mirrored_tables(&self) -> bool {
        self.mirrored.load(Ordering::Acquire) != 0
    }

    /// Whether the querying client is the only one.
    pub fn is_only_client(&self) -> bool {
        Arc::strong_count(&self.clients) <= 2
    }

    /// Marks a table as mirrored, by this process or an earlier one.
    pub fn mark_mirrored(&self, id: u8) {
        self.mirrored.fetch_or(1 << id, Ordering::AcqRel);
    }

    /// Adds a mirrored table, or changes its decoder. Returns whether anything changed.
    pub fn set_mirrored_table(
        &self,
        id: u8,
        table: (String, Option<usize>),
        decode: Arc<dyn Decode>,
    ) -> bool {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let known = tables.get(&id);
        let same = known.is_some_and(|known| is_same_meaning(&*known.decode, &*decode));
        self.cold.set_decoder(id, &decode);
        if !same {
            tables.insert(id, MirroredTable::new(table, decode));
        }
        self.mark_mirrored(id);
        !same
    }

    /// Returns a mirrored table by its number.
    pub fn mirrored_table(&self, id: u8) -> Option<MirroredTable> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Returns every mirrored table with its number.
    pub fn mirrored_tables(&self) -> Vec<(u8, MirroredTable)> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.iter().map(|(id, mirrored)| (*id, mirrored.clone())).collect()
    }

    /// Whether the mirror has every acknowledged change. The caller has checked that it is open.
    #[inline]
    pub fn is_up_to_date(&self) -> bool {
        self.recording.load(Ordering::Acquire)
            && self.applied.load(Ordering::Acquire) >= self.committed.load(Ordering::Acquire)
    }

    pub fn report(&self, what: &str) {
        (self.options.on_event)(what);
    }
}

fn is_same_meaning(a: &dyn Decode, b: &dyn Decode) -> bool {
    let (rows, other) = (a.rows(), b.rows());
    a.version() == b.version()
        && (rows.name, rows.columns, rows.key) == (other.name, other.columns, other.key)
}
