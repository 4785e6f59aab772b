//! Transfers the rows of one table to the mirror.

use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_contract::kv::{Direction, Operations, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result};

use crate::books::Books;
use crate::changes::Changes;
use crate::cold::Kept;
use crate::rows::Pairs;
use crate::shared::{Shared, Shown};
use crate::state::State;

/// Number of rows that are transferred at once: one of DuckDB's [row
/// groups](https://duckdb.org/docs/stable/internals/storage).
pub(crate) const ROWS: usize = 122_880;

/// Called after each part of a load.
type After<'a> = dyn FnMut(&mut dyn SqlStore, usize) -> Result<()> + 'a;

/// A table whose rows are transferred.
pub(crate) struct Brought<'a> {
    pub id: u8,
    pub table: Table,
    pub shown: &'a Shown,
    /// Its chunks.
    kept: Option<Arc<Kept>>,
    books: Books,
}

impl<'a> Brought<'a> {
    pub(crate) fn of(
        (id, shown): (u8, &'a Shown),
        table: Table,
        books: Books,
        shared: &Shared,
    ) -> Self {
        Self { id, table, shown, kept: shared.cold.get(id), books }
    }

    /// Loads every pair that has no valid row in a chunk, and which rows of chunks are invalid.
    pub(crate) fn whole(
        &self,
        snapshot: &mut dyn Operations,
        sql: &mut dyn SqlStore,
        highest: &mut Option<Vec<u8>>,
        after: &mut After<'_>,
    ) -> Result<u64> {
        let Self { shown, table, id, .. } = *self;
        shown.make(sql)?;
        let gone = match &self.kept {
            Some(_) => self.books.cold.all_gone(snapshot, id, &[])?,
            None => Default::default(),
        };
        let covering = self.kept.as_ref().filter(|kept| kept.covers_any());
        let is_cold = |key: &[u8]| {
            covering.is_some_and(|kept| {
                let time = kept.time(key);
                time.is_some_and(|time| kept.is_cold(time, gone.get(key).copied()))
            })
        };
        let (mut pairs, mut rows, mut failed) = (Pairs::default(), 0, None);
        let mut load = |pairs: &mut Pairs, sql: &mut dyn SqlStore| {
            rows += pairs.len() as u64;
            pairs.load(sql, shown.rows, &*shown.decode)?;
            after(sql, pairs.len())?;
            pairs.clear();
            Ok::<(), EngineError>(())
        };
        snapshot.scan(table, Range::default(), &mut |key, value| {
            if is_cold(key) {
                return ControlFlow::Continue(());
            }
            pairs.push(key, value);
            if pairs.len() < ROWS {
                return ControlFlow::Continue(());
            }
            match load(&mut pairs, sql) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        load(&mut pairs, sql)?;
        gone.iter().for_each(|(key, number)| pairs.push(key, &number.to_be_bytes()));
        pairs.load_numbered(sql, shown.overlay, &*shown.decode)?;
        let (mut last, newest) =
            (Vec::new(), Range { direction: Direction::Backward, ..Range::default() });
        snapshot.scan(table, newest, &mut |key, _| {
            last.extend_from_slice(key);
            ControlFlow::Break(())
        })?;
        *highest = Some(last);
        Ok(rows)
    }

    /// Transfers the newest state of changed keys. Returns their number, and whether any of them
    /// invalidates rows of chunks.
    pub(crate) fn keys(
        &self,
        snapshot: &mut dyn Operations,
        changes: &Changes,
        sql: &mut dyn SqlStore,
        highest: &mut Option<Vec<u8>>,
    ) -> Result<(u64, bool)> {
        let Self { shown, table, id, .. } = *self;
        let keys = changes.of(id);
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok((0, false)) };
        let (first, last) = (changes.key(first), changes.key(last));
        let are_new = highest.as_deref().is_some_and(|highest| highest < first);
        let mut pairs = Pairs::default();
        if !are_new {
            shown.make_temporary(sql, shown.gone)?;
            for part in keys.chunks(ROWS) {
                part.iter().for_each(|key| pairs.push(changes.key(key), &[]));
                pairs.load_keys(sql, shown.gone, &*shown.decode)?;
                pairs.clear();
            }
            shown.delete_gone(sql, shown.rows)?;
        }
        let (mut gone, mut any_gone) = (Pairs::default(), false);
        for part in keys.chunks(ROWS) {
            for key in part {
                let key = changes.key(key);
                let (number, is_cold) = self.look(snapshot, key)?;
                if let Some(number) = number {
                    gone.push(key, &number.to_be_bytes());
                }
                if !is_cold && let Some(value) = snapshot.get(table, key)? {
                    pairs.push(key, value);
                }
            }
            pairs.load(sql, shown.rows, &*shown.decode)?;
            pairs.clear();
            any_gone |= !gone.is_empty();
            self.overlay(sql, &gone)?;
            gone.clear();
        }
        if highest.as_deref().is_some_and(|highest| highest < last) {
            *highest = Some(last.to_vec());
        }
        Ok((keys.len() as u64, any_gone))
    }

    /// Returns the number under which a key is recorded as changed for chunks, and whether a chunk
    /// has the valid row of its pair.
    fn look(&self, snapshot: &mut dyn Operations, key: &[u8]) -> Result<(Option<u32>, bool)> {
        let late = self.kept.as_ref().filter(|kept| kept.gone_by(key).is_some());
        let Some(kept) = late else { return Ok((None, false)) };
        let gone = self.books.cold.gone(snapshot, self.id, key)?;
        let is_cold = kept.time(key).is_some_and(|time| kept.is_cold(time, gone));
        Ok((gone, is_cold))
    }

    /// Invalidates the rows of keys in chunks up to the run with that number.
    fn overlay(&self, sql: &mut dyn SqlStore, gone: &Pairs) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let shown = self.shown;
        shown.make_temporary(sql, shown.gone)?;
        gone.load_keys(sql, shown.gone, &*shown.decode)?;
        shown.delete_gone(sql, shown.overlay)?;
        gone.load_numbered(sql, shown.overlay, &*shown.decode)
    }

    /// Makes the view that queries use.
    pub(crate) fn view(
        &self,
        snapshot: &mut dyn Operations,
        sql: &mut dyn SqlStore,
        (shared, state): (&Shared, &mut State),
    ) -> Result<()> {
        let overlaid = self.kept.is_some() && self.books.cold.has_gone(snapshot, self.id)?;
        self.shown.make_view(sql, shared.files(), self.kept.as_deref(), overlaid)?;
        state.overlaid = state.overlaid & !(1 << self.id) | u64::from(overlaid) << self.id;
        Ok(())
    }
}
