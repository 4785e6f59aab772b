//! The tables of a workload file in an SQL database.

mod definition;
mod phases;

use std::ops;
use std::sync::Arc;

use embermark_contract::sql::{Param, QueryKind, Rows as BulkRows, SqlStore, SqlType, TableDef};
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::{Condition, Group, Removed, Set, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::{OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::arena::Arena;
use super::cell::{Cell, Rows, conditions_of, is_question};
use super::port::{Database, Found, Session, SessionWork, VisitRow};
use super::row;
use super::statements::begins_at_parameters;
use crate::reopenable::Reopenable;
use phases::texts;

pub(super) use definition::{definition, sql_type};
pub(super) use phases::Statements;

/// Values of a statement.
type Params<'a> = SmallVec<[Param<'a>; 12]>;

pub(super) struct SqlTables {
    store: Reopenable<dyn SqlStore>,
    cell: Arc<Cell>,
    /// By table.
    defs: Vec<&'static TableDef>,
    /// Prepared since their tables were made and the database opened.
    statements: Statements,
    /// What statements the engine was told to expect.
    expected: Option<QueryKind>,
    arena: Arc<Arena>,
    /// Keys of rows found, to be changed one by one.
    looked: Vec<OwnedKey>,
}

/// A key that was read.
pub(super) type OwnedKey = SmallVec<[OwnedValue; 2]>;

impl SqlTables {
    pub(super) fn new(store: Reopenable<dyn SqlStore>, cell: Arc<Cell>) -> Self {
        let in_order = |rows: &Rows| {
            let table = rows.table;
            definition(table, &table.name, 0..table.columns.len())
        };
        let defs = cell.tables.iter().map(in_order).collect();
        let statements = Statements::new(&cell);
        let (expected, arena, looked) = (None, Arc::default(), Vec::new());
        Self { store, cell, defs, statements, expected, arena, looked }
    }

    /// Tells the engine what statements come, where it does not know.
    fn expect(&mut self, kind: QueryKind) -> Result<()> {
        if self.expected != Some(kind) {
            self.store.expect(kind)?;
            self.expected = Some(kind);
        }
        Ok(())
    }

    /// The name of an index: not that of a table, nor of another index.
    fn index_name(&self, table: usize, number: usize) -> String {
        self.cell.free_name(&format!("index_{table}_{number}"))
    }
}

/// A value as a parameter of a statement.
#[inline]
pub(super) const fn param(value: Value<'_>) -> Param<'_> {
    match value {
        Value::Null => Param::Null,
        Value::Int(value) => Param::Int(value),
        Value::Float(value) => Param::Float(value),
        Value::Text(text) => Param::Text(text),
        Value::Bytes(bytes) => Param::Bytes(bytes),
    }
}

impl Database for SqlTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        match self.cell.work(phase) {
            Work::Sql(sql) => self.cell.text_of(sql).map(|_| Execution::Native),
            Work::Mix(_) | Work::Sequence(_) => Err(EngineError::unsupported("SQL", "this phase")),
            Work::Gaps { .. }
                if !(self.store.dialect().windows() && self.store.dialect().derived_tables()) =>
            {
                Err(EngineError::unsupported("this engine's SQL", "window functions"))
            }
            _ => Ok(Execution::Native),
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.statements.forget_of(&self.cell, table);
        let (dialect, def) = (self.store.dialect(), self.defs[table]);
        let Table { columns, key, indexes, .. } = self.cell.tables[table].table;
        let own = columns.iter().enumerate().filter(|(at, _)| !key.contains(at));
        let own = own.filter_map(|(at, column)| {
            let of = sql_type(column.of);
            if indexes.iter().flatten().any(|column| *column == at) {
                return Some((&*column.name, dialect.indexed_type(of).to_owned()));
            }
            let is_limited = dialect.longest().is_some();
            if let Some(longest) = column.longest {
                return Some((&*column.name, format!("VARCHAR({longest})")));
            }
            if !is_limited || !matches!(of, SqlType::Text | SqlType::Bytes) {
                return None;
            }
            let rows = &self.cell.tables[table];
            let longest =
                rows.longest(at, rows.staged.rows()).max(self.cell.longest_set(table, at));
            dialect.sized(of, longest).map(|of| (&*column.name, of))
        });
        let own: Vec<(&str, String)> = own.collect();
        let types: Vec<(&str, &str)> = own.iter().map(|(name, of)| (*name, &**of)).collect();
        self.store.batch(&dialect.drop_table(def.name))?;
        self.store.batch(&dialect.create_table_of(def, &types))?;
        for (number, index) in indexes.iter().enumerate() {
            let of = index.iter().map(|column| dialect.column(&columns[*column].name));
            let (name, of) = (dialect.table(def.name), of.collect::<Vec<_>>().join(", "));
            let called = self.index_name(table, number);
            self.store.batch(&format!("CREATE INDEX {called} ON {name} ({of})"))?;
        }
        Ok(())
    }

    fn attach(&mut self) -> Result<()> {
        Ok(())
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        self.cell.lay_keys(phase, operations, arena);
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    fn ready(&mut self, phase: usize, lead: usize) -> Result<()> {
        let long = is_question(self.cell.work(lead)) || self.cell.takes_fastest_path(lead);
        self.expect(if long { QueryKind::Analytic } else { QueryKind::Point })?;
        self.statements.prepare(&mut *self.store, &self.cell, phase)
    }

    fn bulk(&mut self, table: usize, rows: usize, meter: &mut Meter) -> Result<u64> {
        self.expect(QueryKind::Analytic)?;
        let sorted = self.store.bulk_sorted();
        let source = self.cell.tables[table].source(rows, sorted, meter);
        let mut rows = TableRows { source, row: Params::new() };
        let loaded = self.store.bulk_insert(self.defs[table], &mut rows)?;
        rows.source.count_given();
        Ok(loaded)
    }

    fn within(&mut self, _: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, statements, arena, looked, .. } = self;
        store
            .within(scope, |store| work(&mut SqlSession { store, cell, statements, arena, looked }))
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let contents = texts(self.store.dialect(), &self.cell.tables[table]).contents();
        let all = self.store.prepare(&contents)?;
        let columns = &self.cell.tables[table].table.columns;
        self.store.query(all, &[], &mut |result| {
            let values = columns.iter().enumerate();
            let values = values.map(|(at, column)| row::value(result, at, column.of));
            visit(&values.collect::<Result<SmallVec<[_; 12]>>>()?);
            Ok(())
        })
    }

    fn lacks_index(&mut self, table: usize) -> Result<Option<String>> {
        let names = self.store.dialect().index_names(self.defs[table].name);
        let Table { columns, indexes, .. } = self.cell.tables[table].table;
        let Some(names) = names.filter(|_| !indexes.is_empty()) else { return Ok(None) };
        let (names, mut known) = (self.store.prepare(&names)?, Vec::new());
        self.store.query(names, &[], &mut |row| {
            known.extend(row.text(0)?.map(str::to_lowercase));
            Ok(())
        })?;
        let is_there = |number| known.contains(&self.index_name(table, number).to_lowercase());
        let missing = (0..indexes.len()).find(|number| !is_there(*number));
        let names = |index: &Vec<usize>| {
            let names: Vec<&str> = index.iter().map(|column| &*columns[*column].name).collect();
            names.join(", ")
        };
        Ok(missing.map(|number| names(&indexes[number])))
    }

    fn reopen_after(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<()> {
        self.statements.forget();
        self.expected = None;
        self.store.reopen_after(meanwhile)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Rows on their way into a bulk load.
struct TableRows<'a> {
    source: super::rows::Source<'a>,
    row: Params<'a>,
}

impl BulkRows for TableRows<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (rows, place) = self.source.advance()?;
        self.row.clear();
        self.row.extend(rows.row(place).map(param));
        Some(&self.row)
    }
}

pub(super) struct SqlSession<'a> {
    pub store: &'a mut dyn SqlStore,
    pub cell: &'a Cell,
    pub statements: &'a Statements,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
}

impl<'a> SqlSession<'a> {
    fn rows(
        &mut self,
        phase: usize,
        n: usize,
        params: &[Param<'_>],
        rows: &Rows,
        found: &mut Found,
    ) -> Result<()> {
        self.store.query(self.statements.of(phase)[n], params, &mut |result| {
            found.rows += row::whole(result, rows.table)?;
            Ok(())
        })
    }

    fn key(&self, phase: usize, i: usize) -> Params<'a> {
        self.cell.key_in(self.arena, phase, i).into_iter().map(param).collect()
    }

    fn update(&mut self, phase: usize, i: usize, set: &Set) -> Result<u64> {
        let cell = self.cell;
        let columns = cell.set(phase, i);
        let statement = match set {
            Set::Columns(_) => 0,
            Set::OneOf(all) => all.iter().position(|c| Some(c) == columns.first()).unwrap_or(0),
        };
        let fresh = columns.iter().map(|column| param(cell.fresh(phase, i, *column)));
        let mut params: Params<'_> = fresh.collect();
        params.extend(self.key(phase, i));
        self.store.run(self.statements.of(phase)[statement], &params)
    }

    fn group(&mut self, phase: usize, group: &Group, rows: &Rows, found: &mut Found) -> Result<()> {
        let params = bounds(rows, &group.conditions);
        found.result.clear();
        self.store.query(self.statements.of(phase)[0], &params, &mut |result| {
            row::group(result, group, rows, &mut found.result)
        })
    }
}

/// The bounds of conditions, as parameters.
fn bounds<'a>(rows: &'a Rows, conditions: &'a [Condition]) -> Params<'a> {
    conditions.iter().map(|condition| param(rows.bound(condition))).collect()
}

impl Session for SqlSession<'_> {
    fn look(&mut self, phase: usize) -> Result<usize> {
        let rows = self.cell.rows_of(phase);
        let (bounds, looked) =
            (bounds(rows, conditions_of(self.cell.work(phase))), &mut *self.looked);
        looked.clear();
        self.store.query(self.statements.of(phase)[1], &bounds, &mut |result| {
            let key = rows.table.key.iter().enumerate();
            let key = key.map(|(at, column)| row::value(result, at, rows.of(*column)));
            looked.push(key.map(|value| value.map(Value::to_owned)).collect::<Result<_>>()?);
            Ok(())
        })?;
        Ok(looked.len())
    }

    fn change(&mut self, phase: usize, n: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let set = cell.set(phase, 0).iter().map(|column| param(cell.fresh(phase, 0, *column)));
        let key = self.looked[n].iter().map(|value| param(value.as_value()));
        let params: Params<'_> = set.chain(key).collect();
        found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
        Ok(())
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let (work, rows) = (cell.work(phase), cell.rows_of(phase));
        match work {
            Work::Insert { .. } => {
                let params: Params<'_> = rows.row(i).map(param).collect();
                found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
            }
            Work::Get { .. } | Work::Open { .. } => {
                let key = self.key(phase, i);
                self.rows(phase, 0, &key, rows, found)?;
            }
            Work::Latest { .. } => {
                found.rows = Default::default();
                self.rows(phase, 0, &[], rows, found)?;
            }
            Work::Range(range) => {
                let mut params = Params::new();
                if let Span::Rows { .. } = range.span {
                    let key = self.key(phase, i);
                    let places = begins_at_parameters(self.store.dialect(), rows.table);
                    params.extend(places.into_iter().map(|at| key[at]));
                    params.push(Param::Int(cell.wanted(phase, i).cast_signed()));
                } else {
                    params.extend(cell.of(phase, i).map(param));
                    let (from, to) = cell.times(phase, i);
                    params.extend([Param::Int(from), Param::Int(to)]);
                }
                self.rows(phase, 0, &params, rows, found)?;
            }
            Work::Gaps { by, .. } => {
                found.result.clear();
                self.store.query(self.statements.of(phase)[0], &[], &mut |result| {
                    row::gap(result, rows.of(*by), &mut found.result)
                })?;
            }
            Work::Find { conditions, select, .. } => {
                found.rows = Default::default();
                let bounds = bounds(rows, conditions);
                self.store.query(self.statements.of(phase)[0], &bounds, &mut |result| {
                    found.rows += row::some(result, rows.table, select)?;
                    Ok(())
                })?;
            }
            Work::UpdateWhere { conditions, set, .. } => {
                let mut params: Params<'_> =
                    set.iter().map(|(_, value)| param(value.as_value())).collect();
                params.extend(bounds(rows, conditions));
                found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
            }
            Work::Group(group) => self.group(phase, group, rows, found)?,
            Work::Upsert { .. } => {
                let row: Params<'_> = cell.upserted(phase, i).into_iter().map(param).collect();
                // How many rows that changes, each engine counts in its own way.
                self.store.run(self.statements.of(phase)[0], &row)?;
                found.changed += 1;
            }
            Work::Update { set, .. } => found.changed += self.update(phase, i, set)?,
            Work::ReadModifyWrite { set, .. } => {
                let key = self.key(phase, i);
                let get = self.statements.of(phase).len() - 1;
                self.rows(phase, get, &key, rows, found)?;
                found.changed += self.update(phase, i, set)?;
            }
            Work::Delete { removed, .. } => {
                let params = match removed {
                    Removed::Keys { .. } => self.key(phase, i),
                    Removed::Where { conditions, .. } => bounds(rows, conditions),
                    Removed::Older { time, units } => {
                        Params::from_iter([Param::Int(rows.older(*time, *units))])
                    }
                };
                found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
            }
            Work::Sql(_) => {
                found.result.clear();
                let (statement, mut room) = (self.statements.of(phase)[0], String::new());
                self.store.query(statement, &[], &mut |result| {
                    found.columns = row::every(result, &mut room, &mut found.result)?;
                    Ok(())
                })?;
            }
            Work::Mix(_) | Work::Sequence(_) => {}
        }
        Ok(())
    }
}
