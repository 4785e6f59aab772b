//! Transfers the rows of one table to the mirror.

use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_contract::kv::{Operations, Range, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{EngineError, Result};

use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::cold::ArchivedTable;
use crate::rows::{Columns, Pairs};
use crate::shared::{MirroredTable, Shared, State};

/// Number of rows per bulk load: one of DuckDB's [row
/// groups](https://duckdb.org/docs/stable/internals/storage).
pub(crate) const ROWS: usize = 122_880;

/// Callback after each bulk load, with the number of rows.
type AfterPart<'a> = dyn FnMut(&mut dyn SqlStore, usize) -> Result<()> + 'a;

/// A table whose rows are transferred.
pub(crate) struct TableTransfer<'a> {
    pub id: u8,
    pub table: Table,
    pub mirrored: &'a MirroredTable,
    /// Its archived rows, if it has any.
    archived: Option<Arc<ArchivedTable>>,
    catalog: Catalog,
}

impl<'a> TableTransfer<'a> {
    pub fn new(
        (id, mirrored): (u8, &'a MirroredTable),
        table: Table,
        catalog: Catalog,
        shared: &Shared,
    ) -> Self {
        Self { id, table, mirrored, archived: shared.cold.get(id), catalog }
    }

    /// Loads every pair that has no valid row in a chunk, and the list of invalid rows of chunks.
    /// Returns the number of rows.
    pub fn load_table(
        &self,
        snapshot: &mut dyn Operations,
        sql: &mut dyn SqlStore,
        state: &mut State,
        after: &mut AfterPart<'_>,
    ) -> Result<u64> {
        let Self { mirrored, table, id, .. } = *self;
        mirrored.create_tables(sql)?;
        let gone = match &self.archived {
            Some(_) => self.catalog.cold.invalidations(snapshot, id, &[])?,
            None => Default::default(),
        };
        let covering = self.archived.as_ref().filter(|archived| archived.may_hold_pairs());
        let is_cold = |key: &[u8]| {
            covering.is_some_and(|archived| {
                let time = archived.time(key);
                time.is_some_and(|time| archived.is_cold(time, gone.get(key).copied()))
            })
        };
        let (mut pairs, mut rows) = (Pairs::default(), 0);
        let mut load = |pairs: &mut Pairs, sql: &mut dyn SqlStore| {
            rows += pairs.len() as u64;
            pairs.load(Columns::All, sql, mirrored.rows, &*mirrored.decode)?;
            after(sql, pairs.len())?;
            pairs.clear();
            Ok::<(), EngineError>(())
        };
        snapshot.try_scan(table, Range::default(), |key, value| {
            if !is_cold(key) {
                pairs.push(key, value);
            }
            if pairs.len() >= ROWS {
                load(&mut pairs, sql)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        load(&mut pairs, sql)?;
        gone.iter().for_each(|(key, number)| pairs.push(key, &number.to_be_bytes()));
        pairs.load(Columns::KeyAndNumber, sql, mirrored.overlay, &*mirrored.decode)?;
        let last = snapshot.first_key(table, Range::default().backward())?;
        state.highest.insert(id, last.unwrap_or_default());
        Ok(rows)
    }

    /// Transfers the current rows of changed keys. Returns the number of keys, and whether any of
    /// them invalidates rows of chunks.
    pub fn apply_changes(
        &self,
        snapshot: &mut dyn Operations,
        changes: &Changes,
        sql: &mut dyn SqlStore,
        state: &mut State,
    ) -> Result<(u64, bool)> {
        let Self { mirrored, table, id, .. } = *self;
        let keys = changes.keys_of_table(id);
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok((0, false)) };
        let (first, last) = (changes.key(first), changes.key(last));
        let are_new = state.highest.get(&id).is_some_and(|highest| &**highest < first);
        let mut pairs = Pairs::default();
        if !are_new {
            mirrored.create_temporary(sql, mirrored.removals)?;
            for part in keys.chunks(ROWS) {
                part.iter().for_each(|key| pairs.push(changes.key(key), &[]));
                pairs.load(Columns::Key, sql, mirrored.removals, &*mirrored.decode)?;
                pairs.clear();
            }
            mirrored.apply_removals(sql, mirrored.rows)?;
        }
        let (mut gone, mut any_gone) = (Pairs::default(), false);
        for part in keys.chunks(ROWS) {
            for key in part {
                let key = changes.key(key);
                let (number, is_cold) = self.cold_state(snapshot, key)?;
                if let Some(number) = number {
                    gone.push(key, &number.to_be_bytes());
                }
                if !is_cold && let Some(value) = snapshot.get(table, key)? {
                    pairs.push(key, value);
                }
            }
            pairs.load(Columns::All, sql, mirrored.rows, &*mirrored.decode)?;
            pairs.clear();
            any_gone |= !gone.is_empty();
            self.overlay(sql, &gone)?;
            gone.clear();
        }
        if let Some(highest) = state.highest.get_mut(&id).filter(|highest| &***highest < last) {
            *highest = last.to_vec();
        }
        Ok((keys.len() as u64, any_gone))
    }

    /// Returns the last run whose row of this key is invalid, and whether a chunk has the valid row
    /// of its pair.
    fn cold_state(&self, snapshot: &mut dyn Operations, key: &[u8]) -> Result<(Option<u32>, bool)> {
        let late =
            self.archived.as_ref().filter(|archived| archived.invalidation_run(key).is_some());
        let Some(archived) = late else { return Ok((None, false)) };
        let gone = self.catalog.cold.invalidation(snapshot, self.id, key)?;
        let is_cold = archived.time(key).is_some_and(|time| archived.is_cold(time, gone));
        Ok((gone, is_cold))
    }

    /// Invalidates the rows of keys in chunks. The value of each pair is the last invalid run.
    fn overlay(&self, sql: &mut dyn SqlStore, gone: &Pairs) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let mirrored = self.mirrored;
        mirrored.create_temporary(sql, mirrored.removals)?;
        gone.load(Columns::Key, sql, mirrored.removals, &*mirrored.decode)?;
        mirrored.apply_removals(sql, mirrored.overlay)?;
        gone.load(Columns::KeyAndNumber, sql, mirrored.overlay, &*mirrored.decode)
    }

    /// Makes the view that queries use.
    pub fn update_view(
        &self,
        snapshot: &mut dyn Operations,
        sql: &mut dyn SqlStore,
        (shared, state): (&Shared, &mut State),
    ) -> Result<()> {
        let overlaid =
            self.archived.is_some() && self.catalog.cold.has_invalidations(snapshot, self.id)?;
        self.mirrored.make_view(sql, &shared.options.cold, self.archived.as_deref(), overlaid)?;
        state.overlaid = state.overlaid & !(1 << self.id) | u64::from(overlaid) << self.id;
        Ok(())
    }
}
