//! Moves old rows into chunks.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use embermark_contract::kv::{Operations, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result, Scope};

use super::files;
use super::store::ColdTables;
use super::tables::{ArchivedTable, Chunk, time_column_index};
use super::view::{RUN, literal};
use crate::NAME;
use crate::client::Hybrid;
use crate::mirror::Connection;
use crate::refresh::PrecedingWork;
use crate::rows::{Columns, Pairs};
use crate::shared::{MirroredTable, Shared};

/// The rows of a table to archive, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive<'a> {
    /// Name of the key column that is the time, an integer. It must always be the same for a table.
    pub time: &'a str,
    /// Rows with an earlier time are archived.
    pub before: i64,
    /// Whether the pairs are removed from the front. A removed pair can no longer be read or
    /// scanned, but its row still answers queries. A pair that stays is in both.
    pub removes_pairs: bool,
    /// Largest number of rows per file. The rows of one file are in memory at the same time.
    pub rows_per_file: usize,
}

impl<'a> Archive<'a> {
    /// Moves the pairs with a time before `before` from the front into files of 100,000 rows.
    pub const fn moving(time: &'a str, before: i64) -> Self {
        Self { time, before, removes_pairs: true, rows_per_file: 100_000 }
    }

    /// Copies the pairs with a time before `before` into files of 100,000 rows. They stay in the
    /// front.
    pub const fn copying(time: &'a str, before: i64) -> Self {
        Self { removes_pairs: false, ..Self::moving(time, before) }
    }
}

/// Result of an archiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// Number of rows written into chunks.
    pub rows: u64,
    /// Number of files.
    pub chunks: u64,
    /// Total size of the files.
    pub bytes: u64,
}

/// The pairs of a file.
struct Part {
    pairs: Pairs,
    times: (i64, i64),
    /// First key of the next file. `None` after the last.
    next: Option<Vec<u8>>,
}

impl Hybrid {
    /// Writes old rows into Parquet files. Queries return the same results as before, and see later
    /// changes of archived keys. A key that changes during the call is not archived until the next
    /// call. The call scans all pairs of the table.
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
        let (id, mirrored) = self.mirrored_table(table, "archive")?;
        let _run_lock = shared.cold.lock_runs();
        self.refresh()?;
        let archived = self.begin_run(id, &mirrored, what)?;
        let (mut done, mut chunks, mut from) = (Archived::default(), Vec::new(), Vec::new());
        loop {
            let of = (&*archived, self.recorder.catalog.cold);
            let part = self.front.within(Scope::Snapshot, |snapshot| {
                Part::collect(snapshot, (table, id), of, what, &from)
            })?;
            if !part.pairs.is_empty() {
                let number = done.chunks as u32;
                let (chunk, bytes) =
                    self.write_chunk(&mirrored, &part, what, (archived.newest, number))?;
                done.rows += chunk.rows;
                done.chunks += 1;
                done.bytes += bytes;
                if what.removes_pairs {
                    self.commit_chunks((table, id), &mirrored, vec![chunk], &part.pairs)?;
                } else {
                    chunks.push(chunk);
                }
            }
            let Some(next) = part.next else { break };
            from = next;
        }
        if !chunks.is_empty() {
            self.commit_chunks((table, id), &mirrored, chunks, &Pairs::default())?;
        }
        Ok(done)
    }

    /// Returns a mirrored table and its number. `doing` is the operation, for the error.
    pub(crate) fn mirrored_table(&self, table: Table, doing: &str) -> Result<(u8, MirroredTable)> {
        let id = self.numbers.get(table);
        let mirrored = id.and_then(|id| Some((id, self.shared.mirrored_table(id)?)));
        mirrored.ok_or_else(|| {
            EngineError::failed(NAME, doing, "the table is not shown: show it first")
        })
    }

    /// Begins a run. From now on every change of a key that the run may archive is recorded under
    /// its number.
    fn begin_run(
        &mut self,
        id: u8,
        mirrored: &MirroredTable,
        what: &Archive<'_>,
    ) -> Result<Arc<ArchivedTable>> {
        let shared = Arc::clone(&self.shared);
        let known = shared.cold.get(id);
        if let Some(known) = known.filter(|known| {
            known.column != what.time && !(known.column.is_empty() || known.chunks().is_empty())
        }) {
            let message =
                format!("its chunks have the time column {}, not {}", known.column, what.time);
            return Err(EngineError::failed(NAME, "archive", message));
        }
        let place = time_column_index(&*mirrored.decode, what.time).ok_or_else(|| {
            let message = format!("{} has no column {} in its key", mirrored.name(), what.time);
            EngineError::failed(NAME, "archive", message)
        })?;
        let archived = shared.cold.update(id, |archived| {
            archived.column = what.time.to_owned();
            archived.time = Some((Arc::clone(&mirrored.decode), place));
            archived.newest += 1;
            archived.bound = archived.bound.max(Some(what.before));
        });
        // Every transaction that is active after this one has seen the new run.
        let cold = self.recorder.catalog.cold;
        self.recorder.run_recorded(&mut *self.front, &shared, |batch, _| {
            cold.put_table(batch, id, &archived)
        })?;
        Ok(archived)
    }

    /// Writes a part into a file. Returns the chunk and the size of the file in bytes.
    fn write_chunk(
        &mut self,
        mirrored: &MirroredTable,
        part: &Part,
        what: &Archive<'_>,
        (run, number): (u32, u32),
    ) -> Result<(Chunk, u64)> {
        let folder = &self.shared.options.cold;
        files::create_folder(folder)?;
        let file = format!("{}-{run:08}-{number:04}.parquet", mirrored.name());
        let sql = &mut *Connection::of(&mut self.connection, "archive by its mirror")?.sql;
        let write = |path: &Path| write_parquet(sql, mirrored, &part.pairs, run, path);
        let bytes = files::write_atomically(&folder.join(&file), write)?;
        let rows = part.pairs.len() as u64;
        let Archive { before, removes_pairs, .. } = *what;
        let chunk =
            Chunk { run, part: number, before, times: part.times, rows, removes_pairs, file };
        Ok((chunk, bytes))
    }

    /// Adds written files to the table's chunks, in one transaction. It also removes the pairs of
    /// `leaving` from the front, except those that changed since.
    fn commit_chunks(
        &mut self,
        (table, id): (Table, u8),
        mirrored: &MirroredTable,
        chunks: Vec<Chunk>,
        leaving: &Pairs,
    ) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.state();
        let cold = self.recorder.catalog.cold;
        let run = chunks.first().map_or(0, |chunk| chunk.run);
        self.recorder.run_recorded(&mut *self.front, &shared, |batch, _| {
            chunks.iter().try_for_each(|chunk| cold.put_chunk(batch, id, chunk))?;
            leaving.keys().try_for_each(|key| {
                let gone = cold.invalidation(batch, id, key)?;
                if gone.is_none_or(|gone| gone < run) {
                    batch.delete(table, key)?;
                }
                Ok(())
            })
        })?;
        shared.cold.update(id, |archived| {
            archived.set_chunks([archived.chunks(), &chunks].concat());
        });
        let folder = &shared.options.cold;
        let work = &mut |sql: &mut dyn SqlStore| mirrored.delete_archived(sql, folder, &chunks);
        self.catch_up_after(&mut state, PrecedingWork { table: id, work })
    }
}

/// Writes the rows of pairs into a file, with the number of their run.
fn write_parquet(
    sql: &mut dyn SqlStore,
    mirrored: &MirroredTable,
    pairs: &Pairs,
    run: u32,
    path: &Path,
) -> Result<()> {
    let part = mirrored.part;
    let delete = format!("DELETE FROM {}", part.name);
    mirrored.create_temporary(sql, part)?;
    sql.batch(&delete)?;
    pairs.load(Columns::All, sql, part, &*mirrored.decode)?;
    let key: Vec<_> = mirrored.removals.columns.iter().map(|(name, ..)| *name).collect();
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
        (archived, cold): (&ArchivedTable, ColdTables),
        what: &Archive<'_>,
        from: &[u8],
    ) -> Result<Self> {
        let gone = cold.invalidations(snapshot, id, from)?;
        let mut part = Self { pairs: Pairs::default(), times: (i64::MAX, i64::MIN), next: None };
        snapshot.try_scan(table, Range::between(from, None), |key, value| {
            let time = archived.time(key).ok_or_else(|| {
                let why = format!("the key {key:?} has no integer in the column {}", what.time);
                EngineError::failed(NAME, "archive", why)
            })?;
            let gone = gone.get(key).copied();
            // Pairs that have changed since the run began are left to the next run.
            let changes = gone.is_some_and(|gone| gone >= archived.newest);
            if time >= what.before || changes || archived.is_cold(time, gone) {
                return Ok(ControlFlow::Continue(()));
            }
            if part.pairs.len() >= what.rows_per_file.max(1) {
                part.next = Some(key.to_vec());
                return Ok(ControlFlow::Break(()));
            }
            part.pairs.push(key, value);
            part.times = (part.times.0.min(time), part.times.1.max(time));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(part)
    }
}

/// Checks that the key of a table has the time column of its chunks.
pub(crate) fn check_time_column(shared: &Shared, id: u8) -> Result<()> {
    match shared.cold.get(id) {
        Some(archived) if archived.time.is_none() && !archived.chunks().is_empty() => {
            let message = format!(
                "its cold chunks have the time column {}, which its key lacks: show it as before, or clear it",
                archived.column
            );
            Err(EngineError::failed(NAME, "show a table", message))
        }
        _ => Ok(()),
    }
}
