//! Moves old rows into chunks.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use embermark_contract::kv::{Operations, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::files;
use super::kept::{Chunk, Kept, time_place};
use super::store::ColdTables;
use super::view::{RUN, literal};
use crate::NAME;
use crate::client::Hybrid;
use crate::refresh::Before;
use crate::rows::Pairs;
use crate::shared::{Shared, Shown};

/// What to archive of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive<'a> {
    /// The column of the key that is the time, an integer. It must always be the same for a table.
    pub time: &'a str,
    /// Rows with an earlier time are archived.
    pub before: i64,
    /// Whether their pairs are removed from the front. A removed pair cannot be read or scanned any
    /// more, but its row still answers queries. A pair that stays is in both.
    pub leaves: bool,
    /// Largest number of rows per file. They are in memory at the same time.
    pub most: usize,
}

impl<'a> Archive<'a> {
    /// Pairs with a time before `before` are removed from the front. Files have 100,000 rows.
    pub const fn leaving(time: &'a str, before: i64) -> Self {
        Self { time, before, leaves: true, most: 100_000 }
    }

    /// Pairs stay in the front.
    pub const fn staying(time: &'a str, before: i64) -> Self {
        Self { leaves: false, ..Self::leaving(time, before) }
    }
}

/// What was archived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// Number of rows written into chunks.
    pub rows: u64,
    /// Number of files.
    pub chunks: u64,
    /// Their total size.
    pub bytes: u64,
}

/// The pairs of a file.
struct Part {
    pairs: Pairs,
    times: (i64, i64),
    /// Where the next file's pairs begin. `None` after the last.
    next: Option<Vec<u8>>,
}

impl Hybrid {
    /// Writes old rows into Parquet files. Queries of the table's rows return the same results as
    /// before. Queries also see a key that is put, changed or deleted afterwards. A key that
    /// changes during the call stays where it is until the next call. The table's pairs are
    /// scanned.
    ///
    /// If pairs are removed from the front, each file takes effect by itself: an error keeps the
    /// files before it. If pairs stay, all files take effect or none. The columns of a table with
    /// such files must not change, and its keys must be one byte shorter than the front's longest.
    ///
    /// # Errors
    /// If the table is not shown, has no such column in its key, or used another time column
    /// before; if a file cannot be written; or the front's or the mirror's error.
    pub fn archive(&mut self, table: Table, what: &Archive<'_>) -> Result<Archived> {
        let shared = Arc::clone(&self.shared);
        let (id, shown) = self.shown(table, "archive")?;
        let _busy = shared.cold.busy();
        self.refresh()?;
        let kept = self.begin_run(id, &shown, what)?;
        let (mut done, mut chunks, mut from) = (Archived::default(), Vec::new(), Vec::new());
        loop {
            let of = (&*kept, self.note.books.cold);
            let part = self.front.within(Scope::Snapshot, |snapshot| {
                Part::collect(snapshot, (table, id), of, what, &from)
            })?;
            if !part.pairs.is_empty() {
                let number = done.chunks as u32;
                let (chunk, bytes) =
                    self.write_chunk(&shown, &part, what, (kept.newest, number))?;
                done.rows += chunk.rows;
                done.chunks += 1;
                done.bytes += bytes;
                if what.leaves {
                    self.take_over((table, id), &shown, vec![chunk], &part.pairs)?;
                } else {
                    chunks.push(chunk);
                }
            }
            match part.next {
                Some(next) => from = next,
                None => break,
            }
        }
        if !chunks.is_empty() {
            self.take_over((table, id), &shown, chunks, &Pairs::default())?;
        }
        Ok(done)
    }

    /// Returns the number of a table, and how it is shown.
    pub(crate) fn shown(&self, table: Table, doing: &str) -> Result<(u8, Shown)> {
        let id = self.numbers.get(table);
        let shown = id.and_then(|id| Some((id, self.shared.shown(id)?)));
        shown.ok_or_else(|| {
            EngineError::failed(NAME, doing, "the table is not shown: show it first")
        })
    }

    /// Begins a run. From now on every change of a key that the run may archive is recorded under
    /// its number.
    fn begin_run(&mut self, id: u8, shown: &Shown, what: &Archive<'_>) -> Result<Arc<Kept>> {
        let shared = Arc::clone(&self.shared);
        let known = shared.cold.get(id);
        if let Some(known) = known.filter(|known| {
            known.column != what.time && !(known.column.is_empty() || known.chunks().is_empty())
        }) {
            let message = format!("by {}: its chunks are by {}", what.time, known.column);
            return Err(EngineError::failed(NAME, "archive", message));
        }
        let place = time_place(&*shown.decode, what.time).ok_or_else(|| {
            let message = format!("{} has no column {} in its key", shown.name(), what.time);
            EngineError::failed(NAME, "archive", message)
        })?;
        let kept = shared.cold.change(id, |kept| {
            kept.column = what.time.to_owned();
            kept.time = Some((Arc::clone(&shown.decode), place));
            kept.newest += 1;
            kept.bound = kept.bound.max(Some(what.before));
        });
        // After this transaction none is active that has not seen that.
        let cold = self.note.books.cold;
        self.note.apart(&mut *self.front, &shared, |batch, _| cold.begin(batch, id, &kept))?;
        Ok(kept)
    }

    /// Writes a file.
    fn write_chunk(
        &mut self,
        shown: &Shown,
        part: &Part,
        what: &Archive<'_>,
        (run, number): (u32, u32),
    ) -> Result<(Chunk, u64)> {
        let files = self.shared.files();
        files.make()?;
        let file = format!("{}-{run:08}-{number:04}.parquet", shown.name());
        let Some(connection) = &mut self.connection else {
            return Err(EngineError::failed(NAME, "archive", "its mirror is not connected"));
        };
        let sql = &mut *connection.sql;
        let write = |path: &Path| copy_pairs(sql, shown, &part.pairs, run, path);
        let bytes = files::whole(&files.path(&file), write)?;
        let rows = part.pairs.len() as u64;
        let Archive { before, leaves, .. } = *what;
        Ok((Chunk { run, part: number, before, times: part.times, rows, leaves, file }, bytes))
    }

    /// Makes files hold the rows that were written into them. Some of their pairs are removed from
    /// the front.
    fn take_over(
        &mut self,
        (table, id): (Table, u8),
        shown: &Shown,
        chunks: Vec<Chunk>,
        leaving: &Pairs,
    ) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let cold = self.note.books.cold;
        let run = chunks.first().map_or(0, |chunk| chunk.run);
        self.note.apart(&mut *self.front, &shared, |batch, _| {
            chunks.iter().try_for_each(|chunk| cold.put(batch, id, chunk))?;
            leaving.keys().try_for_each(|key| {
                let gone = cold.gone(batch, id, key)?;
                if gone.is_none_or(|gone| gone < run) {
                    batch.delete(table, key)?;
                }
                Ok(())
            })
        })?;
        shared.cold.change(id, |kept| {
            kept.set_chunks([kept.chunks(), &chunks].concat());
        });
        let generation = self.connection.as_ref().map(|connection| connection.generation);
        if generation.is_none() || shared.current() != generation {
            // The mirror is rebuilt from the front's current state.
            shared.set_current(None);
            return Ok(());
        }
        let work = &mut |sql: &mut dyn SqlStore| shown.take_out(sql, shared.files(), &chunks);
        self.catch_up(&mut state, Some(Before { table: id, work }))
    }
}

/// Writes the rows of pairs into a file, with the number of their run.
fn copy_pairs(
    sql: &mut dyn SqlStore,
    shown: &Shown,
    pairs: &Pairs,
    run: u32,
    path: &Path,
) -> Result<()> {
    let part = shown.part;
    let delete = format!("DELETE FROM {}", part.name);
    shown.make_temporary(sql, part)?;
    sql.batch(&delete)?;
    pairs.load(sql, part, &*shown.decode)?;
    let key: Vec<_> = shown.gone.columns.iter().map(|(name, ..)| *name).collect();
    sql.batch(&format!(
        "COPY (SELECT *, {run}::BIGINT AS {RUN} FROM {} ORDER BY {}) TO {} (FORMAT parquet)",
        part.name,
        key.join(", "),
        literal(&path.to_string_lossy())
    ))?;
    sql.batch(&delete)
}

impl Part {
    /// Collects up to `most` pairs to archive, starting at a key.
    fn collect(
        snapshot: &mut dyn Operations,
        (table, id): (Table, u8),
        (kept, cold): (&Kept, ColdTables),
        what: &Archive<'_>,
        from: &[u8],
    ) -> Result<Self> {
        let gone = cold.all_gone(snapshot, id, from)?;
        let mut part = Self { pairs: Pairs::default(), times: (i64::MAX, i64::MIN), next: None };
        let mut odd = None;
        snapshot.scan(table, Range::between(from, None), &mut |key, value| {
            let Some(time) = kept.time(key) else {
                odd = Some(format!("{key:?}"));
                return ControlFlow::Break(());
            };
            let gone = gone.get(key).copied();
            // What has changed since the run began is left to the next one.
            let changes = gone.is_some_and(|gone| gone >= kept.newest);
            if time >= what.before || changes || kept.is_cold(time, gone) {
                return ControlFlow::Continue(());
            }
            if part.pairs.len() >= what.most.max(1) {
                part.next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            part.pairs.push(key, value);
            part.times = (part.times.0.min(time), part.times.1.max(time));
            ControlFlow::Continue(())
        })?;
        match odd {
            None => Ok(part),
            Some(odd) => {
                let message = format!("the key {odd} has no integer for {}", what.time);
                Err(EngineError::failed(NAME, "archive", message))
            }
        }
    }
}

/// Refuses a table whose chunks use a time column that its key does not have.
pub(crate) fn is_dated(shared: &Shared, id: u8) -> Result<()> {
    match shared.cold.get(id) {
        Some(kept) if kept.time.is_none() && !kept.chunks().is_empty() => {
            let message = format!(
                "its cold chunks are by the column {}, which its key has not: show it as it was, or clear it",
                kept.column
            );
            Err(EngineError::failed(NAME, "show a table", message))
        }
        _ => Ok(()),
    }
}
