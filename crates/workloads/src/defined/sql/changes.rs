//! Parameters of changes of single rows, and changes of a transaction that are sent together.

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

/// Source of the parameters of changes.
#[derive(Clone, Copy)]
pub(super) struct Changes<'a> {
    pub cell: &'a Cell,
    pub arena: &'a Arena,
    /// By table. See [`SqlTables`](super::SqlTables).
    pub written: &'a [&'static [Stored]],
}

impl<'a> Changes<'a> {
    /// Returns the parameters that find the rows of a change: their key, or for several rows the
    /// first key and the last column of the last one.
    pub(super) fn key(self, phase: usize, i: usize) -> Params<'a> {
        if rows_at_once(self.cell.work(phase)) > 1 {
            let [first, last] = self.cell.ends(phase, i);
            return first.into_iter().chain(last.last().copied()).map(param).collect();
        }
        self.cell.key_in(self.arena, phase, i).into_iter().map(param).collect()
    }

    /// Returns the parameters of an update: the new values, then the key.
    pub(super) fn update(self, phase: usize, i: usize) -> Params<'a> {
        let columns = self.cell.set(phase, i).iter();
        let values = columns.map(|column| param(self.cell.update_value(phase, i, *column)));
        values.chain(self.key(phase, i)).collect()
    }

    /// Returns the parameters of an update of a row found by the conditions of a phase.
    pub(super) fn of_found<'k>(self, phase: usize, key: &'k OwnedKey) -> Params<'k>
    where
        'a: 'k,
    {
        let columns = self.cell.set(phase, 0).iter();
        let values = columns.map(|column| param(self.cell.update_value(phase, 0, *column)));
        values.chain(key.iter().map(|value| param(value.as_value()))).collect()
    }

    /// Returns a function from operations to parameters, if every operation of the phase runs its
    /// first statement and needs no memory for documents.
    pub(super) fn parameters(self, phase: usize) -> Option<impl Fn(usize) -> Params<'a>> {
        let work = self.cell.work(phase);
        let table = work.table().unwrap_or_default();
        let has_documents = !self.written[table].is_empty();
        let laid = self.arena.strings(phase).filter(|_| has_documents);
        match work {
            Work::Insert { .. } | Work::Upsert { .. } if has_documents && laid.is_none() => {
                return None;
            }
            Work::Insert { .. }
            | Work::Upsert { .. }
            | Work::Update { set: Set::Columns(_), .. }
            | Work::Delete { removed: Removed::Keys { .. }, .. } => {}
            _ => return None,
        }
        let documents = move |i| laid.map(|laid| laid.at(i));
        Some(move |i| match work {
            Work::Insert { .. } => {
                let rows = self.cell.rows_of(phase);
                self.row(table, documents(i), |column| rows.value(i, column))
            }
            Work::Upsert { .. } => {
                let row = self.cell.upserted(phase, i);
                self.row(table, documents(i), |column| row[column])
            }
            Work::Update { .. } => self.update(phase, i),
            _ => self.key(phase, i),
        })
    }

    /// Returns the parameters of a row that is written. `documents` are those laid out for it, if
    /// its table has any. `get` returns its columns.
    pub(super) fn row<'p, 'v: 'p>(
        self,
        table: usize,
        documents: Option<&'p [u8]>,
        get: impl Fn(usize) -> Value<'v>,
    ) -> Params<'p> {
        let Some(documents) = documents else {
            let columns = 0..self.cell.tables[table].table.columns.len();
            return columns.map(|column| param(get(column))).collect();
        };
        written_params(self.written[table], documents, get)
    }
}

/// Runs a statement for each operation of a part, with that operation's parameters, while the meter
/// has time. Returns the number of operations and of rows changed.
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
