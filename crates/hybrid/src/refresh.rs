//! Transfers changes from the front to the mirror.

use std::sync::atomic::Ordering;

use embermark_contract::kv::{KvStore, Operations, Table};
use embermark_contract::sql::{Access, SqlStore};
use embermark_contract::{Result, Scope};

use crate::books::{Books, TABLES};
use crate::bring::{Brought, ROWS};
use crate::changes::Changes;
use crate::shared::Shared;
use crate::state::State;

/// Number of rows after which a mirror that is being rebuilt writes its file.
const WRITTEN: usize = 10 * ROWS;

/// A client of the front that reads the changes.
pub(crate) struct Source<'a> {
    pub front: &'a mut dyn KvStore,
    pub books: Books,
    /// The shown tables as this client numbers them, by their numbers in the hybrid's own tables.
    pub tables: &'a [Option<Table>; TABLES],
}

/// Work on a table in the mirror's transaction before the changes are transferred. Afterwards its
/// view is made again.
pub(crate) struct Before<'a> {
    pub table: u8,
    pub work: &'a mut dyn FnMut(&mut dyn SqlStore) -> Result<()>,
}

/// Transfers the changes since the last time to the mirror, in one of its transactions.
pub(crate) fn changes(
    source: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
    before: Option<Before<'_>>,
) -> Result<()> {
    let Source { front, books, tables } = source;
    let applied = shared.applied.load(Ordering::Acquire);
    shared.noted.store(0, Ordering::Release);
    front.within(Scope::Snapshot, |snapshot| {
        let changes = Changes::after(snapshot, books.log, applied)?;
        if changes.newest == applied {
            return Ok(());
        }
        sql.begin(Access::Write)?;
        match bring(snapshot, (books, tables), &changes, sql, (shared, state), before) {
            Ok(rows) => {
                sql.commit()?;
                shared.applied.store(changes.newest, Ordering::Release);
                state.unwritten += rows;
                Ok(())
            }
            Err(error) => {
                // The error that led here is the one to report.
                let _ = sql.roll_back();
                Err(error)
            }
        }
    })?;
    if state.unwritten >= shared.options.write_after {
        sql.batch("CHECKPOINT")?;
        state.unwritten = 0;
    }
    Ok(())
}

/// Transfers changes. Returns the number of affected rows.
fn bring(
    snapshot: &mut dyn Operations,
    (books, tables): (Books, &[Option<Table>; TABLES]),
    changes: &Changes,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
    before: Option<Before<'_>>,
) -> Result<u64> {
    let mut rows = 0;
    let mut seen_anew = 0_u64;
    if let Some(Before { table, work }) = before {
        work(sql)?;
        seen_anew |= 1 << table;
    }
    for (id, shown) in shared.all_shown() {
        let Some(table) = tables[usize::from(id)] else { continue };
        let brought = Brought::of((id, &shown), table, books, shared);
        let highest = place(&mut state.highest, id);
        if changes.all >> id & 1 == 1 {
            rows += brought.whole(snapshot, sql, highest, &mut |_, _| Ok(()))?;
            seen_anew |= 1 << id;
        } else {
            let (changed, any_gone) = brought.keys(snapshot, changes, sql, highest)?;
            rows += changed;
            seen_anew |= u64::from(any_gone) << id & !state.overlaid;
        }
        if seen_anew >> id & 1 == 1 {
            brought.view(snapshot, sql, (shared, state))?;
        }
    }
    Ok(rows)
}

/// Transfers every row to a new mirror, which is not queried yet, with one transaction per part.
pub(crate) fn everything(
    Source { front, books, tables }: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
) -> Result<()> {
    let mut total = 0;
    front.within(Scope::Snapshot, |snapshot| {
        for (id, shown) in shared.all_shown() {
            let Some(table) = tables[usize::from(id)] else { continue };
            let brought = Brought::of((id, &shown), table, books, shared);
            let mut unwritten = 0;
            let write = &mut |sql: &mut dyn SqlStore, rows: usize| {
                unwritten += rows;
                if unwritten >= WRITTEN {
                    unwritten = 0;
                    sql.batch("CHECKPOINT")?;
                }
                Ok(())
            };
            total += brought.whole(snapshot, sql, place(&mut state.highest, id), write)?;
            brought.view(snapshot, sql, (shared, state))?;
        }
        Ok(())
    })?;
    state.unwritten = total % WRITTEN as u64;
    Ok(())
}

/// Makes the views of a mirror that was closed, because the files that they read may have moved.
pub(crate) fn views(
    Source { front, books, tables }: Source<'_>,
    sql: &mut dyn SqlStore,
    (shared, state): (&Shared, &mut State),
) -> Result<()> {
    front.within(Scope::Snapshot, |snapshot| {
        shared.all_shown().into_iter().try_for_each(|(id, shown)| {
            let Some(table) = tables[usize::from(id)] else { return Ok(()) };
            let brought = Brought::of((id, &shown), table, books, shared);
            brought.view(snapshot, sql, (shared, state))
        })
    })
}

fn place(highest: &mut Vec<Option<Vec<u8>>>, id: u8) -> &mut Option<Vec<u8>> {
    let id = usize::from(id);
    if highest.len() <= id {
        highest.resize(id + 1, None);
    }
    &mut highest[id]
}
