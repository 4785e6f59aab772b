//! In-memory data about the chunks of the tables.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::Param;

/// A file of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Number of its run.
    pub run: u32,
    /// Number of the file in the run.
    pub part: u32,
    /// Bound of its run, which archived rows with an earlier time.
    pub before: i64,
    /// Lowest and highest time of its rows.
    pub times: (i64, i64),
    pub rows: u64,
    /// Whether the pairs were removed from the front.
    pub removes_pairs: bool,
    /// Name of the file.
    pub file: String,
}

/// Data about a table that was archived.
#[derive(Clone, Default)]
pub(crate) struct ArchivedTable {
    /// Name of the time column of its key.
    pub column: String,
    /// Decoder of its keys, and the index of the time column in the key. `None` until the table is
    /// shown.
    pub time: Option<(Arc<dyn Decode>, usize)>,
    /// Number of the newest run, complete or not. The first is 1.
    pub newest: u32,
    /// Changes of keys with an earlier time must be recorded. `None` if there are no chunks.
    pub bound: Option<i64>,
    /// Chunks in the order of their numbers.
    chunks: Vec<Chunk>,
    /// For each run whose pairs stay in the front: its number, and the largest `before` of such
    /// runs from it on.
    covers: Vec<(u32, i64)>,
}

impl ArchivedTable {
    pub fn new(newest: u32, column: String) -> Self {
        Self { newest, column, ..Self::default() }
    }

    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Sets the chunks, in the order of their numbers.
    pub fn set_chunks(&mut self, chunks: Vec<Chunk>) {
        self.covers.clear();
        for Chunk { run, before, .. } in chunks.iter().rev().filter(|chunk| !chunk.removes_pairs) {
            let largest = self.covers.last().map_or(*before, |(_, later)| *later.max(before));
            match self.covers.last_mut().filter(|(known, _)| known == run) {
                Some(same) => same.1 = largest,
                None => self.covers.push((*run, largest)),
            }
        }
        self.covers.reverse();
        self.chunks = chunks;
        self.bound = self.bound.max(self.chunks.iter().map(|chunk| chunk.before).max());
    }

    /// Returns the time of a key.
    pub fn time(&self, key: &[u8]) -> Option<i64> {
        let (decode, place) = self.time.as_ref()?;
        let mut row = Row::new();
        decode.key(key, &mut row)?;
        match row.get(*place) {
            Some(Param::Int(time)) => Some(*time),
            _ => None,
        }
    }

    /// Returns the run up to which a change of a key invalidates rows. `None` if no chunk can hold a
    /// row of the key. A key with an unknown time may have one.
    pub fn invalidation_run(&self, key: &[u8]) -> Option<u32> {
        let bound = self.bound?;
        self.time(key).is_none_or(|time| time < bound).then_some(self.newest)
    }

    /// Whether any pair of the front may have a valid row in a chunk.
    pub fn may_hold_pairs(&self) -> bool {
        !self.covers.is_empty()
    }

    /// Whether the pair with a time, recorded as changed under a number, has its valid row in a
    /// chunk.
    pub fn is_cold(&self, time: i64, gone: Option<u32>) -> bool {
        let next = self.covers.partition_point(|(run, _)| *run <= gone.unwrap_or(0));
        self.covers.get(next).is_some_and(|(_, before)| time < *before)
    }
}

/// The chunks of every table.
#[derive(Default)]
pub(crate) struct Cold {
    /// Bit mask of the tables that were archived.
    archived: AtomicU64,
    /// By the table's number.
    tables: RwLock<Vec<Option<Arc<ArchivedTable>>>>,
    /// Held to make or remove chunks. It is locked before the mirror's state.
    run_lock: Mutex<()>,
    /// Files of removed chunks, which a running query may still read.
    pub obsolete_files: Mutex<Vec<String>>,
}

impl Cold {
    /// Whether a table was archived.
    #[inline]
    pub fn is_archived(&self, id: u8) -> bool {
        self.archived.load(Ordering::Acquire) >> id & 1 == 1
    }

    pub fn get(&self, id: u8) -> Option<Arc<ArchivedTable>> {
        if !self.is_archived(id) {
            return None;
        }
        self.tables.read().unwrap_or_else(PoisonError::into_inner).get(usize::from(id))?.clone()
    }

    /// Changes the data about a table, and returns it.
    pub fn update(&self, id: u8, change: impl FnOnce(&mut ArchivedTable)) -> Arc<ArchivedTable> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        if tables.len() <= usize::from(id) {
            tables.resize(usize::from(id) + 1, None);
        }
        let place = &mut tables[usize::from(id)];
        let mut archived = place.as_deref().cloned().unwrap_or_default();
        change(&mut archived);
        let archived = Arc::new(archived);
        *place = Some(Arc::clone(&archived));
        self.archived.fetch_or(1 << id, Ordering::AcqRel);
        archived
    }

    /// Sets the decoder of a table's keys.
    pub fn set_decoder(&self, id: u8, decode: &Arc<dyn Decode>) {
        if self.is_archived(id) {
            self.update(id, |archived| {
                let place = time_column_index(&**decode, &archived.column);
                archived.time = place.map(|place| (Arc::clone(decode), place));
            });
        }
    }

    pub fn lock_runs(&self) -> MutexGuard<'_, ()> {
        self.run_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the index of a column among those of the key.
pub(crate) fn time_column_index(decode: &dyn Decode, column: &str) -> Option<usize> {
    decode.rows().key.iter().position(|name| *name == column)
}
