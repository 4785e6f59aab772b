//! Removes old chunks and pairs.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use embermark_contract::kv::{self, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::files;
use super::tables::{ArchivedTable, Chunk};
use crate::client::Hybrid;
use crate::refresh::PrecedingWork;
use crate::shared::MirroredTable;
use crate::{NAME, change_log};

/// Number of pairs that are deleted per transaction.
const PAIRS: usize = 10_000;

/// Result of an expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Number of pairs removed from the front.
    pub pairs: u64,
    /// Number of removed files.
    pub chunks: u64,
    /// Number of rows in these files, including those changed or deleted since.
    pub rows: u64,
}

impl Hybrid {
    /// Removes the pairs of a table with a time before `before`, and the chunks in which every row
    /// is that old. A chunk with a newer row keeps all rows until a later call removes it as a
    /// whole. The time column is the one by which the table was [archived](Self::archive). The call
    /// scans all keys of the table.
    ///
    /// # Errors
    /// If the table is not shown or was never archived, if a file cannot be removed, or the front's
    /// or the mirror's error. After an error, call it again to continue.
    pub fn expire(&mut self, table: Table, before: i64) -> Result<Expired> {
        let shared = Arc::clone(&self.shared);
        let (id, mirrored) = self.mirrored_table(table, "expire rows")?;
        let _run_lock = shared.cold.lock_runs();
        let archived =
            shared.cold.get(id).filter(|archived| archived.time.is_some()).ok_or_else(|| {
                let message = "the table was never archived, so its time column is unknown";
                EngineError::failed(NAME, "expire rows", message)
            })?;
        self.refresh()?;
        let pairs = self.expire_pairs((table, id), &archived, before)?;
        let is_past = |chunk: &Chunk| chunk.times.1 < before;
        let (past, left): (Vec<_>, Vec<_>) = archived.chunks().iter().cloned().partition(is_past);
        let rows = past.iter().map(|chunk| chunk.rows).sum();
        let expired = Expired { pairs, chunks: past.len() as u64, rows };
        if !past.is_empty() {
            self.remove_chunks((id, &mirrored), &past, left)?;
            self.remove_files(&past)?;
        }
        Ok(expired)
    }

    /// Deletes pairs with an earlier time. None of them invalidates a row of a chunk, because
    /// putting it did.
    fn expire_pairs(
        &mut self,
        (table, id): (Table, u8),
        archived: &ArchivedTable,
        before: i64,
    ) -> Result<u64> {
        let shared = Arc::clone(&self.shared);
        let (mut total, mut from) = (0, Vec::new());
        loop {
            let (mut keys, mut next) = (Vec::new(), None);
            self.front.within(Scope::Snapshot, |snapshot| {
                snapshot.scan(table, Range::between(&from, None), &mut |key, _| {
                    if archived.time(key).is_some_and(|time| time < before) {
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
                self.recorder.run_recorded(&mut *self.front, &shared, |batch, record| {
                    for key in &keys {
                        if batch.delete(table, key)? {
                            total += 1;
                            change_log::append(record, id, key);
                        }
                    }
                    Ok(())
                })?;
                // A later refresh would have all the keys in memory.
                if shared.recorded_bytes.load(Ordering::Acquire) > shared.options.log_limit {
                    self.refresh()?;
                }
            }
            let Some(next) = next else { return Ok(total) };
            from = next;
        }
    }

    /// Removes chunks from the hybrid's own tables and from the view of an open mirror.
    fn remove_chunks(
        &mut self,
        (id, mirrored): (u8, &MirroredTable),
        past: &[Chunk],
        left: Vec<Chunk>,
    ) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let cold = self.recorder.catalog.cold;
        let oldest = left.iter().map(|chunk| chunk.run).min().unwrap_or(u32::MAX);
        self.recorder.run_recorded(&mut *self.front, &shared, |batch, _| {
            past.iter().try_for_each(|chunk| cold.remove_chunk(batch, id, chunk))?;
            cold.remove_invalidations(batch, id, oldest)
        })?;
        shared.cold.update(id, |archived| archived.set_chunks(left));
        let forget = mirrored.remove_invalidations_sql(oldest);
        let work = &mut |sql: &mut dyn SqlStore| sql.batch(&forget);
        self.catch_up_after(&mut state, PrecedingWork { table: id, work })
    }

    /// Removes every chunk of a table that will be cleared from the hybrid's own tables. Returns
    /// the table as it was, if it was archived.
    pub(crate) fn clear_cold(&mut self, table: Table) -> Result<Option<Arc<ArchivedTable>>> {
        let shared = Arc::clone(&self.shared);
        let Some(id) = self.numbers.get(table) else { return Ok(None) };
        let Some(archived) = shared.cold.get(id) else { return Ok(None) };
        let _state = shared.state();
        let cold = self.recorder.catalog.cold;
        self.recorder.run_recorded(&mut *self.front, &shared, |batch, record| {
            change_log::append_all(record, id);
            archived.chunks().iter().try_for_each(|chunk| cold.remove_chunk(batch, id, chunk))?;
            cold.remove_invalidations(batch, id, u32::MAX)
        })?;
        shared.cold.update(id, |archived| {
            archived.bound = None;
            archived.set_chunks(Vec::new());
        });
        Ok(Some(archived))
    }

    /// Removes the files of removed chunks. If there are other clients, whose queries may still
    /// read the files, the next call removes them.
    pub(crate) fn remove_files(&mut self, of: &[Chunk]) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut files: Vec<String> = of.iter().map(|chunk| chunk.file.clone()).collect();
        if !files.is_empty() && shared.current().is_some() {
            self.refresh()?;
        }
        if !shared.is_only_client() {
            let mut obsolete_files =
                shared.cold.obsolete_files.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut files, &mut *obsolete_files);
        }
        files::remove(&shared.options.cold, &files)
    }

    /// Removes the files that an earlier call left. No query may be running.
    pub(crate) fn remove_obsolete_files(&mut self) -> Result<()> {
        let mut obsolete_files =
            self.shared.cold.obsolete_files.lock().unwrap_or_else(PoisonError::into_inner);
        files::remove(&self.shared.options.cold, &std::mem::take(&mut *obsolete_files))
    }

    /// Puts pairs into a table that was archived, whose chunks may hold rows with the same keys.
    pub(crate) fn bulk_recorded(&mut self, table: Table, pairs: &mut dyn kv::Pairs) -> Result<u64> {
        let Self { front, shared, recorder, numbers, .. } = self;
        recorder.batch(&mut **front, (shared, numbers), |batch| {
            let mut loaded = 0;
            while let Some((key, value)) = pairs.next() {
                batch.put(table, key, value)?;
                loaded += 1;
            }
            Ok(loaded)
        })
    }
}
