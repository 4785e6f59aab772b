//! What is known in memory of the chunks of the tables.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use embermark_contract::kv::mirror::{Decode, Row};
use embermark_contract::sql::Param;

use crate::books::TABLES;

/// A file of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The number of its run,
    pub run: u32,
    /// and of its file in that.
    pub part: u32,
    /// What its run was to archive: rows with a time before it.
    pub before: i64,
    /// The lowest and the highest time of its rows.
    pub times: (i64, i64),
    pub rows: u64,
    /// Whether the pairs have left the front.
    pub leaves: bool,
    /// The file's name.
    pub file: String,
}

/// What is known of a table that was archived from.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    /// The name of the column of its key that is the time.
    pub column: String,
    /// What its keys mean, and which of their columns that is; unknown until it is shown.
    pub time: Option<(Arc<dyn Decode>, usize)>,
    /// The number of the newest run, done or not; the first is 1.
    pub newest: u32,
    /// The change of a key with a time below it is to be noted; none where there are no chunks.
    pub bound: Option<i64>,
    /// In the order of their numbers.
    chunks: Vec<Chunk>,
    /// Of each run whose pairs stay in the front its number, and the largest `before` of such runs from
    /// it on.
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

    /// The time of a key.
    pub(crate) fn time(&self, key: &[u8]) -> Option<i64> {
        let (decode, place) = self.time.as_ref()?;
        let mut row = Row::new();
        decode.key(key, &mut row)?;
        match row.get(*place) {
            Some(Param::Int(time)) => Some(*time),
            _ => None,
        }
    }

    /// The number under which the change of a key is noted; `None`: no chunk may hold its row. A key whose
    /// time is not known may have one.
    pub(crate) fn gone_by(&self, key: &[u8]) -> Option<u32> {
        let bound = self.bound?;
        self.time(key).is_none_or(|time| time < bound).then_some(self.newest)
    }

    /// Whether any pair of the front may be that of a valid row of a chunk.
    pub(crate) fn covers_any(&self) -> bool {
        !self.covers.is_empty()
    }

    /// Whether the pair of a time, noted as changed under a number, has its valid row in a chunk.
    pub(crate) fn is_cold(&self, time: i64, gone: Option<u32>) -> bool {
        let next = self.covers.partition_point(|(run, _)| *run <= gone.unwrap_or(0));
        self.covers.get(next).is_some_and(|(_, before)| time < *before)
    }
}

/// The chunks of every table.
pub(crate) struct Cold {
    /// A bit for each table that was archived from.
    some: AtomicU64,
    tables: RwLock<[Option<Arc<Kept>>; TABLES]>,
    /// Who has it makes or removes chunks. It is taken before the mirror's state.
    busy: Mutex<()>,
    /// Files of chunks that there are no more, which a question under way may read.
    pub unneeded: Mutex<Vec<String>>,
}

impl Default for Cold {
    fn default() -> Self {
        let tables = RwLock::new([const { None }; TABLES]);
        Self { some: AtomicU64::new(0), tables, busy: Mutex::new(()), unneeded: Mutex::default() }
    }
}

impl Cold {
    /// Whether a table was archived from.
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

    /// Changes what is known of a table, and returns it.
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

    /// Says what the keys of a table mean.
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

/// The place of a column among those of the key.
pub(crate) fn time_place(decode: &dyn Decode, column: &str) -> Option<usize> {
    decode.rows().key.iter().position(|name| *name == column)
}
