//! Stores rows that a sensor makes at a rate in a table of a workload file, only through the [port].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use embermark_contract::{EngineError, Result, Scope};
use embermark_language::{Arrive, Commit, Work};

use super::keep::LAID_AT_ONCE;
use super::port;
use super::{Arena, Cell, Database, Found};
use crate::arrivals::{Sink, Task};

/// Returns the rows per commit. `None`: the rows of a period.
pub(super) fn rows_of_commit(cell: &Cell, arrive: &Arrive) -> Option<usize> {
    if cell.commit == Some(Commit::Each) {
        return Some(1);
    }
    match cell.work(arrive.insert) {
        _ if arrive.collect.is_some() => None,
        Work::Insert { commit: Commit::Batch(rows), .. } => usize::try_from(*rows).ok(),
        _ => Some(1),
    }
}

/// Returns the task with a window that has at least two commits after the one that opens it. A part
/// of the window, as a search for the highest rate tries it, is lengthened up to the whole.
///
/// # Errors
/// Impossible where the whole window has fewer, or the rows run out of times before its end.
fn planned(cell: &Cell, arrive: &Arrive, task: Task) -> Result<Task> {
    let rows = match (rows_of_commit(cell, arrive), arrive.collect) {
        (None, Some(collect)) => Arrive::rows_in(collect, task.rate),
        (rows, _) => rows.unwrap_or(1) as u64,
    };
    let Some(task) = task.with_commits(rows, arrive.lasts) else {
        let (rate, lasts) = (task.rate, arrive.lasts);
        return Err(EngineError::impossible(format!(
            "at {rate} rows per second, a window of {lasts:?} has fewer than three commits of \
             {rows} rows. It begins with a commit and ends two or more commits later: take a \
             longer 'for', a higher rate, or commits of fewer rows"
        )));
    };
    let of = &cell.tables[arrive.table];
    let (most, queue) = (of.most(0), arrive.queue as u64);
    // The sensor goes on until it is told that the last row has come.
    let later = queue.saturating_add(rows.saturating_mul(3)).saturating_add(LAID_AT_ONCE as u64);
    let needed = (of.loaded as u64).saturating_add(task.end).saturating_add(later);
    if needed > most as u64 {
        return Err(of.out_of_times(most, "for"));
    }
    Ok(task)
}

/// Stores rows after the existing ones, in the order in which they arrive.
pub(super) struct TableSink<'a> {
    cell: &'a Cell,
    arrive: &'a Arrive,
    database: &'a mut dyn Database,
    arena: &'a mut Arc<Arena>,
    /// Whether each row is inserted on its own.
    one_by_one: bool,
    found: Found,
    /// Position of the next row.
    next: usize,
    /// Position up to which rows are laid out.
    laid: usize,
}

impl<'a> TableSink<'a> {
    pub(super) fn new(
        cell: &'a Cell,
        arrive: &'a Arrive,
        database: &'a mut dyn Database,
        arena: &'a mut Arc<Arena>,
    ) -> Self {
        let (next, found) = (cell.tables[arrive.table].loaded, Found::default());
        let one_by_one = rows_of_commit(cell, arrive) == Some(1);
        Self { cell, arrive, database, arena, one_by_one, found, next, laid: next }
    }
}

impl Sink for TableSink<'_> {
    /// Number of the row.
    type Row = u64;

    const ROWS: &'static str = "rows";

    fn planned(&self, task: Task) -> Result<Task> {
        planned(self.cell, self.arrive, task)
    }

    fn arrived(&mut self, number: u64, _: &[u8]) -> u64 {
        number
    }

    fn prepare(&mut self, numbers: &[u64]) {
        let to = self.next + numbers.len();
        if to > self.laid {
            let places = self.next..to.max(self.next + LAID_AT_ONCE);
            self.laid = places.end;
            port::lay_out(self.database, self.arena, [(self.arrive.insert, places)]);
        }
    }

    fn commit(&mut self, numbers: &[u64]) -> Result<()> {
        let Self { database, found, arrive, next, .. } = self;
        let places = *next..*next + numbers.len();
        *next = places.end;
        if !self.one_by_one {
            return database.batch(arrive.table, places, Some(arrive.insert)).map(drop);
        }
        database.within(arrive.insert, Scope::PerOperation, &mut |one| {
            places.clone().try_for_each(|place| one.perform(arrive.insert, place, found))
        })
    }

    fn committed(&mut self, _: &[u64]) {
        self.cell.tables[self.arrive.table].there.store(self.next, Ordering::Relaxed);
    }

    fn flush(&mut self) -> Result<()> {
        self.database.flush()
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.database.checkpoints()
    }
}

#[cfg(test)]
mod tests;
