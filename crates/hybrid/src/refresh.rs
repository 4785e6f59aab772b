//! Transfers changes from the front to the mirror.

use std::sync::atomic::Ordering;

use embermark_contract::kv::{KvStore, Operations, Table};
use embermark_contract::sql::SqlStore;
use embermark_contract::{Result, Scope};

use crate::catalog::{Catalog, TABLES};
use crate::changes::Changes;
use crate::shared::{Shared, State};
use crate::transfer::{ROWS, TableTransfer};

/// Number of rows after which a mirror that is being rebuilt writes its file.
const CHECKPOINT_ROWS: usize = 10 * ROWS;

/// A client of the front that reads the changes.
pub(crate) struct Source<'a> {
    pub front: &'a mut dyn KvStore,
    pub catalog: Catalog,
    /// The mirrored tables as this client numbers them, by their numbers in the catalog.
    pub tables: &'a [Option<Table>; TABLES],
}

/// Work on a table in the mirror's transaction before the changes are transferred. Afterwards the
/// table's view is made again.
pub(crate) struct PrecedingWork<'a> {
    pub table: u8,
    pub work: &'a mut dyn FnMut(&mut dyn SqlStore) -> Result<()>,
}

/// Transfers the changes since the last transfer to the mirror, in one of its transactions.
pub(crate) fn transfer_changes(
    source: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
    before: Option<PrecedingWork<'_>>,
) -> Result<()> {
    let Source { front, catalog, tables } = source;
    let applied = shared.applied.load(Ordering::Acquire);
    shared.recorded_bytes.store(0, Ordering::Release);
    front.within(Scope::Snapshot, |snapshot| {
        let changes = Changes::after(snapshot, catalog.records, applied)?;
        if changes.last_record == applied {
            return Ok(());
        }
        let rows = sql.within(Scope::Batch, |sql| {
            let state = (shared, &mut *state);
            transfer_tables(snapshot, (catalog, tables), &changes, sql, state, before)
        })?;
        shared.applied.store(changes.last_record, Ordering::Release);
        state.unwritten += rows;
        Ok(())
    })?;
    if state.unwritten >= shared.options.write_after {
        sql.batch("CHECKPOINT")?;
        state.unwritten = 0;
    }
    Ok(())
}

/// Transfers changes. Returns the number of affected rows.
fn transfer_tables(
    snapshot: &mut dyn Operations,
    (catalog, tables): (Catalog, &[Option<Table>; TABLES]),
    changes: &Changes,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
    before: Option<PrecedingWork<'_>>,
) -> Result<u64> {
    let mut rows = 0;
    let mut changed_views = 0_u64;
    if let Some(PrecedingWork { table, work }) = before {
        work(sql)?;
        changed_views |= 1 << table;
    }
    for (id, mirrored) in shared.mirrored_tables() {
        let Some(table) = tables[usize::from(id)] else { continue };
        let transfer = TableTransfer::new((id, &mirrored), table, catalog, shared);
        if changes.whole_tables >> id & 1 == 1 {
            rows += transfer.load_table(snapshot, sql, state, &mut |_, _| Ok(()))?;
            changed_views |= 1 << id;
        } else {
            let (changed, any_gone) = transfer.apply_changes(snapshot, changes, sql, state)?;
            rows += changed;
            changed_views |= u64::from(any_gone) << id & !state.overlaid;
        }
        if changed_views >> id & 1 == 1 {
            transfer.update_view(snapshot, sql, (shared, state))?;
        }
    }
    Ok(rows)
}

/// Loads every row into a new mirror, which is not queried yet, with one transaction per bulk load.
pub(crate) fn load_all(
    Source { front, catalog, tables }: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
) -> Result<()> {
    let mut total = 0;
    front.within(Scope::Snapshot, |snapshot| {
        for (id, mirrored) in shared.mirrored_tables() {
            let Some(table) = tables[usize::from(id)] else { continue };
            let transfer = TableTransfer::new((id, &mirrored), table, catalog, shared);
            let mut unwritten = 0;
            let write = &mut |sql: &mut dyn SqlStore, rows: usize| {
                unwritten += rows;
                if unwritten >= CHECKPOINT_ROWS {
                    unwritten = 0;
                    sql.batch("CHECKPOINT")?;
                }
                Ok(())
            };
            total += transfer.load_table(snapshot, sql, state, write)?;
            transfer.update_view(snapshot, sql, (shared, state))?;
        }
        Ok(())
    })?;
    state.unwritten = total % CHECKPOINT_ROWS as u64;
    Ok(())
}

/// Makes the views of a reopened mirror again, because the files that they read may have moved.
pub(crate) fn make_views(
    Source { front, catalog, tables }: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
) -> Result<()> {
    front.within(Scope::Snapshot, |snapshot| {
        shared.mirrored_tables().into_iter().try_for_each(|(id, mirrored)| {
            let Some(table) = tables[usize::from(id)] else { return Ok(()) };
            let transfer = TableTransfer::new((id, &mirrored), table, catalog, shared);
            transfer.update_view(snapshot, sql, (shared, state))
        })
    })
}
