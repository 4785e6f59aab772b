//! In-memory data about the chunks of the tables.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::Param;

use crate::books::TABLES;

/// A file of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Number of its run.
    pub run: u32,
    /// Number of its file in the run.
    pub part: u32,
    /// Its run archived rows with a time before this.
    pub before: i64,
    /// Lowest and highest time of its rows.
    pub times: (i64, i64),
    pub rows: u64,
    /// Whether the pairs were removed from the front.
    pub leaves: bool,
    /// Name of the file.
    pub file: String,
}

/// Data about a table that was archived.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    /// Name of the time column of its key.
    pub column: String,
    /// The decoder of its keys, and the index of the time column in them. Unknown until the table
    /// is shown.
    pub time: Option<(Arc<dyn Decode>, usize)>,
    /// Number of the newest run, complete or not. The first is 1.
    pub newest: u32,
    /// Changes of keys with a lower time must be recorded. `None` if there are no chunks.
    pub bound: Option<i64>,
    /// In the order of their numbers.
    chunks: Vec<Chunk>,
    /// For each run whose pairs stay in the front: its number, and the largest `before` of such
    /// runs from it on.
    covers: Vec<(u32, i64)>,
}

impl Kept {
    pub(crate) fn of(newest: u32, column: String) -> Self {
        Self { newest, column, ..Self::default() }
    }

    pub(crate) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Sets the chunks, in the order of their numbers.
    pub(crate) fn set_chunks(&mut self, chunks: Vec<Chunk>) {
        self.covers.clear();
        for Chunk { run, before, .. } in chunks.iter().rev().filter(|chunk| !chunk.leaves) {
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
    pub(crate) fn time(&self, key: &[u8]) -> Option<i64> {
        let (decode, place) = self.time.as_ref()?;
        let mut row = Row::new();
        decode.key(key, &mut row)?;
        match row.get(*place) {
            Some(Param::Int(time)) => Some(*time),
            _ => None,
        }
    }

    /// Returns the number under which the change of a key is recorded. `None` if no chunk may hold
    /// its row. A key with an unknown time may have one.
    pub(crate) fn gone_by(&self, key: &[u8]) -> Option<u32> {
        let bound = self.bound?;
        self.time(key).is_none_or(|time| time < bound).then_some(self.newest)
    }

    /// Whether any pair of the front may have a valid row in a chunk.
    pub(crate) fn covers_any(&self) -> bool {
        !self.covers.is_empty()
    }

    /// Whether the pair with a time, recorded as changed under a number, has its valid row in a
    /// chunk.
    pub(crate) fn is_cold(&self, time: i64, gone: Option<u32>) -> bool {
        let next = self.covers.partition_point(|(run, _)| *run <= gone.unwrap_or(0));
        self.covers.get(next).is_some_and(|(_, before)| time < *before)
    }
}

/// The chunks of every table.
pub(crate) struct Cold {
    /// A bit for each table that was archived.
    some: AtomicU64,
    tables: RwLock<[Option<Arc<Kept>>; TABLES]>,
    /// Held to make or remove chunks. It is locked before the mirror's state.
    busy: Mutex<()>,
    /// Files of removed chunks, which a running query may still read.
    pub unneeded: Mutex<Vec<String>>,
}

impl Default for Cold {
    fn default() -> Self {
        let tables = RwLock::new([const { None }; TABLES]);
        Self { some: AtomicU64::new(0), tables, busy: Mutex::new(()), unneeded: Mutex::default() }
    }
}

impl Cold {
    /// Whether a table was archived.
    #[inline]
    pub(crate) fn has(&self, id: u8) -> bool {
        self.some.load(Ordering::Acquire) >> id & 1 == 1
    }

    pub(crate) fn get(&self, id: u8) -> Option<Arc<Kept>> {
        if !self.has(id) {
            return None;
        }
        self.tables.read().unwrap_or_else(PoisonError::into_inner)[usize::from(id)].clone()
    }

    /// Changes the data about a table, and returns it.
    pub(crate) fn change(&self, id: u8, change: impl FnOnce(&mut Kept)) -> Arc<Kept> {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let place = &mut tables[usize::from(id)];
        let mut kept = place.as_deref().cloned().unwrap_or_default();
        change(&mut kept);
        let kept = Arc::new(kept);
        *place = Some(Arc::clone(&kept));
        self.some.fetch_or(1 << id, Ordering::AcqRel);
        kept
    }

    /// Sets the decoder of a table's keys.
    pub(crate) fn show(&self, id: u8, decode: &Arc<dyn Decode>) {
        if self.has(id) {
            self.change(id, |kept| {
                let place = time_place(&**decode, &kept.column);
                kept.time = place.map(|place| (Arc::clone(decode), place));
            });
        }
    }

    pub(crate) fn busy(&self) -> MutexGuard<'_, ()> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the index of a column among those of the key.
pub(crate) fn time_place(decode: &dyn Decode, column: &str) -> Option<usize> {
    decode.rows().key.iter().position(|name| *name == column)
}
