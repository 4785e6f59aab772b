//! Operations on an SQL database, within a transaction or outside.

use embermark_contract::Result;
use embermark_contract::sql::{Param, SqlStore};
use embermark_language::{Condition, Group, Removed, Set, Span, Work};
use embermark_model::table::Value;

use super::Statements;
use super::changes::{self, Changes};
use super::params::{Params, param, written_params};
use super::phases::seeks_each;
use crate::defined::arena::Arena;
use crate::defined::cell::Cell;
use crate::defined::documents::{Stored, lay};
use crate::defined::kind::conditions_of;
use crate::defined::port::{OperationResults, Session, Shared, Steps};
use crate::defined::row::{self, OwnedKey};
use crate::defined::statements::conditions::bounds;
use crate::defined::statements::reads::begins_at_parameters;
use crate::defined::statements::statistics::outliers_ask_for;
use crate::defined::table_rows::Rows;

/// A session with the statements of a workload.
pub(in crate::defined) struct SqlSession<'a> {
    pub store: &'a mut dyn SqlStore,
    pub cell: &'a Cell,
    pub statements: &'a Statements,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
    /// By table, see [`SqlTables`](super::SqlTables). Empty where no rows are written.
    pub written: &'a [&'static [Stored]],
    pub room: &'a mut Vec<u8>,
    /// Whether changes are part of an open transaction.
    pub batches: bool,
}

impl<'a> SqlSession<'a> {
    fn rows(
        &mut self,
        phase: usize,
        n: usize,
        params: &[Param<'_>],
        rows: &Rows,
        found: &mut OperationResults,
    ) -> Result<()> {
        self.store.query(self.statements.of_phase(phase)[n], params, &mut |result| {
            found.rows += row::whole(result, rows.table)?;
            Ok(())
        })
    }

    /// Inserts a row with documents, which are created now unless they were laid out.
    fn write<'v>(
        &mut self,
        phase: usize,
        i: usize,
        written: &[Stored],
        get: impl Fn(usize) -> Value<'v>,
    ) -> Result<u64> {
        let documents = match self.arena.strings(phase) {
            Some(laid) => laid.at(i),
            None => {
                self.room.clear();
                lay(written, &get, self.room);
                &*self.room
            }
        };
        let row = written_params(written, documents, get);
        self.store.run(self.statements.of_phase(phase)[0], &row)
    }

    /// Returns the bounds of conditions that are parameters.
    fn bounds(&self, rows: &'a Rows, conditions: &'a [Condition]) -> Params<'a> {
        bounds(self.store.dialect(), rows, conditions).map(param).collect()
    }

    /// Returns the value that question `i` of a phase is about, if it is about one.
    fn each_value(&self, phase: usize, i: usize) -> Option<Param<'a>> {
        self.cell.each(phase, i).map(|(_, value)| param(value))
    }

    /// Returns whether one statement finds the newest rows of all values.
    pub(super) fn asks_for_all(&self, phase: usize) -> bool {
        let Work::Latest { by, .. } = self.cell.work(phase) else { return false };
        let each = self.cell.each(phase, 0);
        each.is_some_and(|(column, _)| column == *by)
            && !seeks_each(self.store.dialect(), self.cell, phase)
    }

    /// Finds the newest rows. With `all`, one statement finds those of all values.
    pub(super) fn latest(
        &mut self,
        phase: usize,
        i: usize,
        all: bool,
        found: &mut OperationResults,
    ) -> Result<()> {
        let cell = self.cell;
        let values = if all { &*cell.each[phase] } else { &[] };
        let mut params: Params<'_> = values.iter().map(|value| param(value.as_value())).collect();
        if let (false, Some(value)) = (all, self.each_value(phase, i)) {
            let Work::Latest { by, time, .. } = cell.work(phase) else { return Ok(()) };
            let is_short = cell.each(phase, i).is_some_and(|(column, _)| column == *by)
                && cell.rows_of(phase).is_one_at_a_time(*by, *time);
            params.push(value);
            if !is_short {
                params.push(value);
            }
        }
        cell.begin_question(phase, found);
        self.rows(phase, usize::from(all), &params, cell.rows_of(phase), found)
    }

    /// Reads the row of a key.
    fn get(
        &mut self,
        phase: usize,
        n: usize,
        key: &[Param<'_>],
        rows: &Rows,
        found: &mut OperationResults,
    ) -> Result<()> {
        self.store.query(self.statements.of_phase(phase)[n], key, &mut |result| {
            found.rows += row::beside_key(result, rows.table, key)?;
            Ok(())
        })
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
        let params = self.changes().update(phase, i);
        self.store.run(self.statements.of_phase(phase)[statement], &params)
    }

    fn group(
        &mut self,
        (phase, i): (usize, usize),
        group: &'a Group,
        rows: &'a Rows,
        found: &mut OperationResults,
    ) -> Result<()> {
        let mut params = self.bounds(rows, &group.conditions);
        params.extend(self.each_value(phase, i));
        self.cell.begin_question(phase, found);
        self.store.query(self.statements.of_phase(phase)[0], &params, &mut |result| {
            row::group(result, group, rows, &mut found.result)
        })
    }
}

impl Session for SqlSession<'_> {
    fn each(
        &mut self,
        phase: usize,
        part: Shared<'_>,
        found: &mut OperationResults,
    ) -> Result<u64> {
        if self.asks_for_all(phase) {
            return part.part.at_once(|| self.latest(phase, 0, true, found));
        }
        if self.pipelines(&part)
            && let Some(params) = self.changes().parameters(phase)
        {
            let statement = self.statements.of_phase(phase)[0];
            let (ops, changed) = changes::send(self.store, statement, part, params)?;
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
        let looked = &mut *self.looked;
        looked.clear();
        self.store.query(self.statements.of_phase(phase)[1], &bounds, &mut |result| {
            let key = rows.table.key.iter().enumerate();
            let key = key.map(|(at, column)| row::value(result, at, rows.column_type(*column)));
            looked.push(key.map(|value| value.map(Value::to_owned)).collect::<Result<_>>()?);
            Ok(())
        })?;
        Ok(looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut OperationResults) -> Result<()> {
        let params = self.changes().of_found(phase, &self.looked[n]);
        found.changed += self.store.run(self.statements.of_phase(phase)[0], &params)?;
        Ok(())
    }

    fn change_each(
        &mut self,
        phase: usize,
        part: Shared<'_>,
        found: &mut OperationResults,
    ) -> Result<u64> {
        if !self.pipelines(&part) {
            return part.each(|n| self.change(phase, n, found));
        }
        let (changes, looked, statement) =
            (self.changes(), &*self.looked, self.statements.of_phase(phase)[0]);
        let params = |n: usize| changes.of_found(phase, &looked[n]);
        let (ops, changed) = changes::send(self.store, statement, part, params)?;
        found.changed += changed;
        found.pipelined = true;
        Ok(ops)
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut OperationResults) -> Result<()> {
        let cell = self.cell;
        let (work, rows) = (cell.work(phase), cell.rows_of(phase));
        match work {
            Work::Insert { table, .. } => {
                let get = |column| rows.value(i, column);
                found.changed += match self.written[*table] {
                    [] => {
                        let row: Params<'_> = rows.row(i).map(param).collect();
                        self.store.run(self.statements.of_phase(phase)[0], &row)?
                    }
                    written => self.write(phase, i, written, get)?,
                };
            }
            Work::Get { .. } | Work::Open { .. } => {
                let key = self.key(phase, i);
                self.get(phase, 0, &key, rows, found)?;
            }
            Work::Latest { .. } => self.latest(phase, i, false, found)?,
            Work::Range(range) => {
                let mut params = Params::new();
                if let Span::Rows { .. } = range.span {
                    let key = self.key(phase, i);
                    let places = begins_at_parameters(self.store.dialect(), rows.table);
                    params.extend(places.into_iter().map(|at| key[at]));
                    params.push(Param::Int(cell.wanted(phase, i).cast_signed()));
                } else {
                    params.extend(cell.range_value(phase, i).map(param));
                    let (from, to) = cell.times(phase, i);
                    params.extend([Param::Int(from), Param::Int(to)]);
                }
                self.rows(phase, 0, &params, rows, found)?;
            }
            Work::Gaps { by, .. } => {
                cell.begin_question(phase, found);
                let each = Params::from_iter(self.each_value(phase, i));
                self.store.query(self.statements.of_phase(phase)[0], &each, &mut |result| {
                    row::gap(result, rows.column_type(*by), &mut found.result)
                })?;
            }
            Work::Outliers { of, .. } => {
                cell.begin_question(phase, found);
                let times = outliers_ask_for(self.store.dialect());
                let each = self.each_value(phase, i);
                let each: Params<'_> = each.into_iter().cycle().take(times).collect();
                self.store.query(self.statements.of_phase(phase)[0], &each, &mut |result| {
                    row::outlier(result, rows.table, *of, &mut found.result)
                })?;
            }
            Work::Correlate(question) => {
                cell.begin_question(phase, found);
                let computed = self.store.dialect().correlation("y", "x").is_some();
                let two = question.between.iter().flatten();
                let two: Params<'_> = two.map(|value| param(value.as_value())).collect();
                self.store.query(self.statements.of_phase(phase)[0], &two, &mut |result| {
                    row::correlation(result, computed, &mut found.result)
                })?;
            }
            Work::Find { conditions, select, .. } => {
                found.rows = Default::default();
                let bounds = self.bounds(rows, conditions);
                self.store.query(self.statements.of_phase(phase)[0], &bounds, &mut |result| {
                    found.rows += row::some(result, rows.table, select)?;
                    Ok(())
                })?;
            }
            Work::UpdateWhere { conditions, set, .. } => {
                let mut params: Params<'_> =
                    set.iter().map(|(_, value)| param(value.as_value())).collect();
                params.extend(self.bounds(rows, conditions));
                found.changed += self.store.run(self.statements.of_phase(phase)[0], &params)?;
            }
            Work::Group(group) => self.group((phase, i), group, rows, found)?,
            Work::Upsert { table, .. } => {
                let row = cell.upserted(phase, i);
                // Engines count these rows in different ways.
                match self.written[*table] {
                    [] => {
                        let row: Params<'_> = row.into_iter().map(param).collect();
                        self.store.run(self.statements.of_phase(phase)[0], &row)?;
                    }
                    written => {
                        self.write(phase, i, written, |column| row[column])?;
                    }
                }
                found.changed += 1;
            }
            Work::Update { set, .. } => found.changed += self.update(phase, i, set)?,
            Work::ReadModifyWrite { set, .. } => {
                let key = self.key(phase, i);
                let get = self.statements.of_phase(phase).len() - 1;
                self.get(phase, get, &key, rows, found)?;
                found.changed += self.update(phase, i, set)?;
            }
            Work::Delete { removed, .. } => {
                let params = match removed {
                    Removed::Keys { .. } => self.key(phase, i),
                    Removed::Where { conditions, .. } => self.bounds(rows, conditions),
                    Removed::Older { time, units } => {
                        Params::from_iter([Param::Int(rows.older(*time, *units))])
                    }
                };
                found.changed += self.store.run(self.statements.of_phase(phase)[0], &params)?;
            }
            Work::Sql(_) => {
                found.result.clear();
                let (statement, mut room) = (self.statements.of_phase(phase)[0], String::new());
                self.store.query(statement, &[], &mut |result| {
                    found.columns = row::every(result, &mut room, &mut found.result)?;
                    Ok(())
                })?;
            }
            Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {}
        }
        Ok(())
    }
}
