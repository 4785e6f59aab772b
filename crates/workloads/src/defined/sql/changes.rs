//! The parameters of changes of single rows, and those of a transaction sent together.

use embermark_contract::Result;
use embermark_contract::sql::{Param, Rows as BulkRows, SqlStore, Statement};
use embermark_language::{Removed, Set, Work};
use embermark_model::table::Value;

use super::super::arena::Arena;
use super::super::cell::Cell;
use super::super::documents::Stored;
use super::super::kind::rows_at_once;
use super::super::port::Shared;
use super::super::row::OwnedKey;
use super::super::rows::Given;
use super::params::{Params, param, written_params};

/// What the parameters of changes are made of.
#[derive(Clone, Copy)]
pub(super) struct Changes<'a> {
    pub cell: &'a Cell,
    pub arena: &'a Arena,
    /// By table, see [`SqlTables`](super::SqlTables).
    pub written: &'a [&'static [Stored]],
}

impl<'a> Changes<'a> {
    /// By what the rows of a change are found: their key, or of several at once the first key and the last column of the
    /// last.
    pub(super) fn key(self, phase: usize, i: usize) -> Params<'a> {
        if rows_at_once(self.cell.work(phase)) > 1 {
            let [first, last] = self.cell.ends(phase, i);
            return first.into_iter().chain(last.last().copied()).map(param).collect();
        }
        self.cell.key_in(self.arena, phase, i).into_iter().map(param).collect()
    }

    /// The parameters of an update: what is set, and the key.
    pub(super) fn update(self, phase: usize, i: usize) -> Params<'a> {
        let columns = self.cell.set(phase, i).iter();
        let fresh = columns.map(|column| param(self.cell.fresh(phase, i, *column)));
        fresh.chain(self.key(phase, i)).collect()
    }

    /// The parameters of an update of the row of a key that was found by the conditions of a phase.
    pub(super) fn of_found<'k>(self, phase: usize, key: &'k OwnedKey) -> Params<'k>
    where
        'a: 'k,
    {
        let columns = self.cell.set(phase, 0).iter();
        let fresh = columns.map(|column| param(self.cell.fresh(phase, 0, *column)));
        fresh.chain(key.iter().map(|value| param(value.as_value()))).collect()
    }

    /// What makes the parameters of a phase whose every operation runs its first statement, and needs no room for
    /// documents.
    pub(super) fn parameters(self, phase: usize) -> Option<impl Fn(usize) -> Params<'a>> {
        let work = self.cell.work(phase);
        match work {
            Work::Insert { table, .. } | Work::Upsert { table, .. }
                if !self.written[*table].is_empty() && self.arena.of(phase).is_none() =>
            {
                return None;
            }
            Work::Insert { .. }
            | Work::Upsert { .. }
            | Work::Update { set: Set::Columns(_), .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. } => {}
            _ => return None,
        }
        Some(move |i| match work {
            Work::Insert { table, .. } => {
                let rows = self.cell.rows_of(phase);
                match self.arena.of(phase).filter(|_| !self.written[*table].is_empty()) {
                    Some(laid) => {
                        self.documents(*table, laid.at(i), |column| rows.value(i, column))
                    }
                    None => rows.row(i).map(param).collect(),
                }
            }
            Work::Upsert { table, .. } => {
                let row = self.cell.upserted(phase, i);
                match self.arena.of(phase).filter(|_| !self.written[*table].is_empty()) {
                    Some(laid) => self.documents(*table, laid.at(i), |column| row[column]),
                    None => row.into_iter().map(param).collect(),
                }
            }
            Work::Update { .. } => self.update(phase, i),
            _ => self.key(phase, i),
        })
    }

    /// The parameters of a row with documents that were laid out.
    fn documents(
        self,
        table: usize,
        laid: &'a [u8],
        get: impl Fn(usize) -> Value<'a>,
    ) -> Params<'a> {
        written_params(self.written[table], laid, get)
    }
}

/// Runs a statement for each operation of a part, with parameters of its number, as long as the meter has time; how
/// many operations there were, and how many rows they changed.
pub(super) fn send<'a>(
    store: &mut dyn SqlStore,
    statement: Statement,
    part: Shared<'_>,
    make: impl Fn(usize) -> Params<'a>,
) -> Result<(u64, u64)> {
    let Shared { part, client, clients } = part;
    let given = Given::of_part(part);
    let mut sent = Sent { given, make: |n| make(client + n * clients), params: Params::new() };
    let changed = store.run_each(statement, &mut sent)?;
    Ok((sent.given.count(), changed))
}

/// Parameters on their way to the engine.
struct Sent<'m, 'a, M> {
    given: Given<'m>,
    make: M,
    params: Params<'a>,
}

impl<'a, M: Fn(usize) -> Params<'a>> BulkRows for Sent<'_, 'a, M> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.params = (self.make)(self.given.next()?);
        Some(&self.params)
    }
}
