//! Removes old chunks and pairs.

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use embermark_contract::kv::{self, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::kept::{Chunk, Kept};
use crate::client::Hybrid;
use crate::refresh::Before;
use crate::{NAME, log};

/// Number of pairs that are deleted per transaction.
const PAIRS: usize = 10_000;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Number of pairs of the front.
    pub pairs: u64,
    /// Number of files with cold rows.
    pub chunks: u64,
    /// Number of rows in these files, including those changed or deleted since.
    pub rows: u64,
}

/// Files whose chunks were removed.
#[derive(Default)]
pub(crate) struct Removed(Vec<String>);

impl Hybrid {
    /// Removes the pairs of a table with a time before `before`, and the chunks in which every row
    /// has one. A chunk that extends beyond it keeps all rows until a later call removes it as a
    /// whole. The time is the one by which the table was [archived](Self::archive). The table's
    /// keys are scanned.
    ///
    /// # Errors
    /// If the table is not shown or was never archived, if a file cannot be removed, or the front's
    /// or the mirror's error. Calling it again continues.
    pub fn expire(&mut self, table: Table, before: i64) -> Result<Expired> {
        let shared = Arc::clone(&self.shared);
        let (id, _) = self.shown(table, "expire rows")?;
        let _busy = shared.cold.busy();
        let kept = shared.cold.get(id).filter(|kept| kept.time.is_some()).ok_or_else(|| {
            let message = "the table was never archived from, so that its time is not known";
            EngineError::failed(NAME, "expire rows", message)
        })?;
        self.refresh()?;
        let pairs = self.expire_pairs((table, id), &kept, before)?;
        let is_past = |chunk: &Chunk| chunk.times.1 < before;
        let (past, left): (Vec<_>, Vec<_>) = kept.chunks().iter().cloned().partition(is_past);
        let rows = past.iter().map(|chunk| chunk.rows).sum();
        let expired = Expired { pairs, chunks: past.len() as u64, rows };
        if !past.is_empty() {
            let removed = self.remove_chunks(id, &past, left)?;
            self.remove(removed)?;
        }
        Ok(expired)
    }

    /// Deletes pairs with an earlier time. None of them invalidates a row of a chunk, because
    /// putting it did.
    fn expire_pairs(&mut self, (table, id): (Table, u8), kept: &Kept, before: i64) -> Result<u64> {
        let shared = Arc::clone(&self.shared);
        let (mut total, mut from) = (0, Vec::new());
        loop {
            let (mut keys, mut next) = (Vec::new(), None);
            self.front.within(Scope::Snapshot, |snapshot| {
                snapshot.scan(table, Range::between(&from, None), &mut |key, _| {
                    if kept.time(key).is_some_and(|time| time < before) {
                        if keys.len() == PAIRS {
                            next = Some(key.to_vec());
                            return ControlFlow::Break(());
                        }
                        keys.push(key.to_vec());
                    }
                    ControlFlow::Continue(())
                })
            })?;
            if !keys.is_empty() {
                self.note.apart(&mut *self.front, &shared, |batch, record| {
                    for key in &keys {
                        if batch.delete(table, key)? {
                            total += 1;
                            log::append(record, id, key);
                        }
                    }
                    Ok(())
                })?;
            }
            match next {
                Some(next) => from = next,
                None => return Ok(total),
            }
        }
    }

    /// Removes chunks from the hybrid's own tables and from the view of an open mirror.
    fn remove_chunks(&mut self, id: u8, past: &[Chunk], left: Vec<Chunk>) -> Result<Removed> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let cold = self.note.books.cold;
        let oldest = left.iter().map(|chunk| chunk.run).min().unwrap_or(u32::MAX);
        self.note.apart(&mut *self.front, &shared, |batch, _| {
            past.iter().try_for_each(|chunk| cold.remove(batch, id, chunk))?;
            cold.forget(batch, id, oldest)
        })?;
        shared.cold.change(id, |kept| kept.set_chunks(left));
        let removed = Removed(past.iter().map(|chunk| chunk.file.clone()).collect());
        let generation = self.connection.as_ref().map(|connection| connection.generation);
        if let Some(shown) = shared.shown(id).filter(|_| shared.current() == generation) {
            let forget = shown.forget(oldest);
            let work = &mut |sql: &mut dyn SqlStore| sql.batch(&forget);
            self.catch_up(&mut state, Some(Before { table: id, work }))?;
        } else {
            // The mirror is rebuilt from the front's current state.
            shared.set_current(None);
        }
        Ok(removed)
    }

    /// Removes every chunk of a table that will be cleared from the hybrid's own tables.
    pub(crate) fn clear_cold(&mut self, table: Table) -> Result<Removed> {
        let shared = Arc::clone(&self.shared);
        let Some(id) = self.numbers.get(table) else { return Ok(Removed::default()) };
        let Some(kept) = shared.cold.get(id) else { return Ok(Removed::default()) };
        let _state = shared.state();
        let cold = self.note.books.cold;
        self.note.apart(&mut *self.front, &shared, |batch, record| {
            log::append_all(record, id);
            kept.chunks().iter().try_for_each(|chunk| cold.remove(batch, id, chunk))?;
            cold.forget(batch, id, u32::MAX)
        })?;
        shared.cold.change(id, |kept| {
            kept.bound = None;
            kept.set_chunks(Vec::new());
        });
        Ok(Removed(kept.chunks().iter().map(|chunk| chunk.file.clone()).collect()))
    }

    /// Removes files that belong to no chunk any more. If there are other clients, whose queries
    /// may still read them, the next call removes them.
    pub(crate) fn remove(&mut self, Removed(mut files): Removed) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        if !files.is_empty() && shared.current().is_some() {
            self.refresh()?;
        }
        if !shared.is_alone() {
            let mut unneeded = shared.cold.unneeded.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut files, &mut *unneeded);
        }
        shared.files().remove(&files)
    }

    /// Removes the remaining files once no query is running.
    pub(crate) fn remove_unneeded(&mut self) -> Result<()> {
        let mut unneeded = self.shared.cold.unneeded.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.files().remove(&std::mem::take(&mut *unneeded))
    }

    /// Puts pairs into a table that was archived, whose chunks may hold rows with the same keys.
    pub(crate) fn bulk_noted(&mut self, table: Table, pairs: &mut dyn kv::Pairs) -> Result<u64> {
        let Self { front, shared, note, numbers, .. } = self;
        note.batch(&mut **front, (shared, numbers), |batch| {
            let mut loaded = 0;
            while let Some((key, value)) = pairs.next() {
                batch.put(table, key, value)?;
                loaded += 1;
            }
            Ok(loaded)
        })
    }
}
