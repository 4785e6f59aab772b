//! Operations on an SQL database, within a transaction or outside.

mod questions;

use embermark_contract::Result;
use embermark_contract::row::Visit;
use embermark_contract::sql::{Param, SqlStore};
use embermark_language::{Condition, Range, Removed, Set, Span, Work};
use embermark_model::table::{OwnedValue, Value};

use super::super::documents::lay;
use super::super::kind::conditions_of;
use super::super::statements::conditions::bounds;
use super::super::statements::reads::begins_at_parameters;
use super::super::{Arena, Cell, Found, Op, OwnedKey, Rows, Session, Shared, Steps, Stored, row};
use super::Statements;
use super::params::{Changes, Params, send};

/// A session with the statements of a workload.
pub struct SqlSession<'a> {
    pub store: &'a mut dyn SqlStore,
    pub cell: &'a Cell,
    pub statements: &'a Statements,
    pub arena: &'a Arena,
    /// By table, see [`SqlTables`](super::SqlTables). Empty where no rows are written.
    pub written: &'a [&'static [Stored]],
    pub buffers: &'a mut Buffers,
    /// Whether changes are part of an open transaction.
    pub batches: bool,
    /// Where the engine's plan of the query of a phase goes. The query is then not run.
    pub plan: Option<&'a mut Option<String>>,
}

/// Memory for rows on their way to and from the store.
#[derive(Default)]
pub struct Buffers {
    /// Keys of rows found, to change one by one.
    pub looked: Vec<OwnedKey>,
    /// The documents of a row.
    pub room: Vec<u8>,
}

impl<'a> SqlSession<'a> {
    /// Runs the first statement of a phase. Returns the number of rows that it changed.
    fn run(&mut self, phase: usize, params: &[Param<'_>]) -> Result<u64> {
        self.store.run(self.statements.of_phase(phase)[0], params)
    }

    /// Asks the n-th statement of a phase, or for its plan.
    fn query(
        &mut self,
        (phase, n): (usize, usize),
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        if let Some(plan) = &mut self.plan {
            let texts = self.statements.texts(self.store.dialect(), self.cell, phase)?;
            **plan = self.store.plan(&texts[n], params)?;
            return Ok(());
        }
        self.store.query(self.statements.of_phase(phase)[n], params, visit)
    }

    /// Reads whole rows by the n-th statement of a phase.
    fn rows(&mut self, op: Op, n: usize, params: &[Param<'_>], found: &mut Found) -> Result<()> {
        let table = self.cell.tables[op.table].table;
        self.query((op.phase, n), params, &mut |result| {
            found.rows += row::whole(result, table)?;
            Ok(())
        })
    }

    /// Writes the row of an operation. `get` returns its columns. Its documents are created now
    /// unless they were laid out.
    fn put<'v>(&mut self, op: Op, get: impl Fn(usize) -> Value<'v>) -> Result<u64> {
        let (written, changes) = (self.written[op.table], self.changes());
        let documents = match self.arena.strings(op.phase) {
            _ if written.is_empty() => None,
            Some(laid) => Some(laid.at(op.i)),
            None => {
                let room = &mut self.buffers.room;
                room.clear();
                lay(written, &get, room);
                Some(&**room)
            }
        };
        let row = changes.row(op.table, documents, get);
        self.store.run(self.statements.of_phase(op.phase)[0], &row)
    }

    /// Returns the bounds of conditions that are parameters.
    fn bounds(&self, rows: &'a Rows, conditions: &'a [Condition]) -> Params<'a> {
        bounds(self.store.dialect(), rows, conditions).collect()
    }

    /// Reads the row of a key by the n-th statement of a phase.
    fn get(&mut self, op: Op, n: usize, key: &[Param<'_>], found: &mut Found) -> Result<()> {
        let table = self.cell.tables[op.table].table;
        self.query((op.phase, n), key, &mut |result| {
            found.rows += row::beside_key(result, table, key)?;
            Ok(())
        })
    }

    fn range(&mut self, op: Op, range: &Range, found: &mut Found) -> Result<()> {
        let (cell, Op { phase, i, .. }, mut params) = (self.cell, op, Params::new());
        if let Span::Rows { .. } = range.span {
            let key = self.key(phase, i);
            let table = cell.tables[op.table].table;
            let places = begins_at_parameters(self.store.dialect(), table);
            params.extend(places.into_iter().map(|at| key[at]));
            params.push(Param::Int(cell.wanted(phase, i).cast_signed()));
        } else {
            params.extend(cell.range_value(phase, i));
            let (from, to) = cell.times(phase, i);
            params.extend([Param::Int(from), Param::Int(to)]);
        }
        self.rows(op, 0, &params, found)
    }

    fn changes(&self) -> Changes<'a> {
        Changes { cell: self.cell, arena: self.arena, written: self.written }
    }

    /// Returns whether changes are sent without waiting for each answer. They are within a
    /// transaction, if the engine can do it and no change has its own start time.
    fn pipelines(&self, part: &Shared<'_>) -> bool {
        self.batches && self.store.pipelines() && !part.part.is_paced()
    }

    fn key(&self, phase: usize, i: usize) -> Params<'a> {
        self.changes().key(phase, i)
    }

    fn update(&mut self, phase: usize, i: usize, set: &Set) -> Result<u64> {
        let columns = self.cell.set(phase, i);
        let statement = match set {
            Set::Columns(_) => 0,
            Set::OneOf(all) => all.iter().position(|c| Some(c) == columns.first()).unwrap_or(0),
        };
        let params = self.changes().update(phase, i, self.key(phase, i));
        self.store.run(self.statements.of_phase(phase)[statement], &params)
    }
}

impl Session for SqlSession<'_> {
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        if self.asks_for_all(phase) {
            return part.part.at_once(|| self.latest_of_all(phase, found));
        }
        if self.pipelines(&part)
            && let Some(params) = self.changes().parameters(phase)
        {
            let statement = self.statements.of_phase(phase)[0];
            let (ops, changed) = send(self.store, statement, part, params)?;
            let upserts = matches!(self.cell.work(phase), Work::Upsert { .. });
            // Engines count the rows that an upsert changes in different ways.
            found.changed += if upserts { ops } else { changed };
            found.pipelined = true;
            return Ok(ops);
        }
        part.each(|i| self.perform(phase, i, found))
    }

    fn find_rows(&mut self, phase: usize) -> Result<usize> {
        let rows = self.cell.rows_of(phase);
        let bounds = self.bounds(rows, conditions_of(self.cell.work(phase)));
        let looked = &mut self.buffers.looked;
        looked.clear();
        self.store.query(self.statements.of_phase(phase)[1], &bounds, &mut |result| {
            let key = rows.table.key.iter().enumerate();
            let key = key.map(|(at, column)| row::value(result, at, rows.column_type(*column)));
            looked.push(key.map(|value| value.map(Value::to_owned)).collect::<Result<_>>()?);
            Ok(())
        })?;
        Ok(looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let key = self.buffers.looked[n].iter().map(OwnedValue::as_value);
        let params = self.changes().update(phase, 0, key);
        found.changed += self.store.run(self.statements.of_phase(phase)[0], &params)?;
        Ok(())
    }

    fn change_each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        if !self.pipelines(&part) {
            return part.each(|n| self.change(phase, n, found));
        }
        let (changes, looked, statement) =
            (self.changes(), &self.buffers.looked, self.statements.of_phase(phase)[0]);
        let key = |n: usize| looked[n].iter().map(OwnedValue::as_value);
        let params = |n| changes.update(phase, 0, key(n));
        let (ops, changed) = send(self.store, statement, part, params)?;
        found.changed += changed;
        found.pipelined = true;
        Ok(ops)
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let (cell, op) = (self.cell, Op::new(self.cell, phase, i));
        match op.work {
            Work::Insert { .. } => {
                let rows = &cell.tables[op.table];
                found.changed += self.put(op, |column| rows.value(i, column))?;
            }
            Work::Get { .. } | Work::Open { .. } => {
                let key = self.key(phase, i);
                self.get(op, 0, &key, found)?;
            }
            Work::Range(range) => self.range(op, range, found)?,
            Work::UpdateWhere { conditions, set, .. } => {
                let mut params: Params<'_> =
                    set.iter().map(|(_, value)| value.as_value()).collect();
                params.extend(self.bounds(&cell.tables[op.table], conditions));
                found.changed += self.run(phase, &params)?;
            }
            Work::Upsert { .. } => {
                let row = cell.upserted(phase, i);
                self.put(op, |column| row[column])?;
                // Engines count these rows in different ways.
                found.changed += 1;
            }
            Work::Update { set, .. } => found.changed += self.update(phase, i, set)?,
            Work::ReadModifyWrite { set, .. } => {
                let key = self.key(phase, i);
                let get = self.statements.of_phase(phase).len() - 1;
                self.get(op, get, &key, found)?;
                found.changed += self.update(phase, i, set)?;
            }
            Work::Delete { removed, .. } => {
                let rows = &cell.tables[op.table];
                let params = match removed {
                    Removed::Keys { .. } => self.key(phase, i),
                    Removed::Where { conditions, .. } => self.bounds(rows, conditions),
                    Removed::Older { time, units } => {
                        Params::from_iter([Param::Int(rows.older(*time, *units))])
                    }
                };
                found.changed += self.run(phase, &params)?;
            }
            Work::Ask { query, .. } => self.ask(op, query, found)?,
            Work::Sql(_) => {
                found.result.clear();
                let mut room = String::new();
                self.query((phase, 0), &[], &mut |result| row::every(result, &mut room, found))?;
            }
            Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}
