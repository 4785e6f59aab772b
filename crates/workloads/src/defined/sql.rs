//! The tables of a workload file in an SQL database.

mod changes;
mod definition;
mod load;
mod phases;
mod plan;
mod session;

use std::ops;
use std::sync::Arc;

use embermark_contract::sql::{
    CsvFile, Dialect, Param, QueryKind, SqlStore, SqlType, Statement, TableDef,
};
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::{Asked, Group, Grouped, Keep, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::arena::Arena;
use super::cell::Cell;
use super::documents::{Document, Stored, laid, lay, stored};
use super::kind::is_question;
use super::port::{Database, Found, Session, SessionWork, Stretch, VisitRow};
use super::row;
use super::table_rows::Rows;
use crate::reopenable::Reopenable;
use load::Loads;
use phases::texts;
use plan::Explaining;

pub(super) use definition::{definition, sql_type};
pub(super) use phases::Statements;
pub(super) use session::SqlSession;

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
    /// By table, of one with documents: its columns as they are written.
    written: Vec<&'static [Stored]>,
    /// Room for the documents of a row.
    room: Vec<u8>,
    /// Of the table of which a window is kept: whether its stretches are partitions, and else what deletes one.
    is_parted: bool,
    expiry: Option<Statement>,
}

/// A key that was read.
pub(super) type OwnedKey = SmallVec<[OwnedValue; 2]>;

impl SqlTables {
    /// # Errors
    /// Unsupported where a table has documents and the engine has none such.
    pub(super) fn new(store: Reopenable<dyn SqlStore>, cell: Arc<Cell>) -> Result<Self> {
        let (mut defs, mut written) = (Vec::new(), Vec::new());
        for Rows { table, .. } in &cell.tables {
            let own: &'static [Stored] = Vec::leak(stored(table));
            let documents = own.iter().filter_map(Stored::document);
            documents
                .map(|own| document_type(store.dialect(), own))
                .try_for_each(|of| of.map(drop))?;
            let is_plain = own.iter().all(|stored| stored.document().is_none());
            written.push(if is_plain { &[][..] } else { own });
            defs.push(definition::with_documents(table, own));
        }
        let statements = Statements::new(&cell, true);
        let (expected, arena, looked, room) = (None, Arc::default(), Vec::new(), Vec::new());
        Ok(Self {
            store,
            cell,
            defs,
            statements,
            expected,
            arena,
            looked,
            written,
            room,
            is_parted: false,
            expiry: None,
        })
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

impl SqlTables {
    /// Whether a phase asks for rows at the end of those that begin with one value of the key.
    fn asks_for_ends(&self, of: usize) -> bool {
        let key = &self.cell.tables[of].table.key;
        self.cell.definition.phases.iter().any(|phase| match (&phase.work, &phase.asked) {
            (Work::Latest { table, by, time }, Asked::Each { column, .. }) => {
                *table == of && column == by && *key == [*by, *time]
            }
            _ => false,
        })
    }
}

impl SqlTables {
    /// Makes a table and its indexes anew, empty: of one of which a window is kept with the place of its first stretch
    /// of time.
    fn make(&mut self, table: usize, kept: Option<(&Keep, &Stretch)>) -> Result<()> {
        self.statements.forget_of(&self.cell, table);
        let (dialect, def) = (self.store.dialect(), self.defs[table]);
        let Table { columns, key, indexes, .. } = self.cell.tables[table].table;
        let plain = |at: &usize| !key.contains(at) && columns[*at].within.is_none();
        let own = columns.iter().enumerate().filter(|(at, _)| plain(at));
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
        let documents = self.written[table].iter().filter_map(Stored::document);
        let documents = documents.map(|document| {
            document_type(dialect, document).map(|of| (&*document.name, of.to_owned()))
        });
        let own = own.map(Ok).chain(documents).collect::<Result<Vec<(&str, String)>>>()?;
        let types: Vec<(&str, &str)> = own.iter().map(|(name, of)| (*name, &**of)).collect();
        self.store.batch(&dialect.drop_table(def.name))?;
        let parts = dialect.range_partitions().filter(|_| types.is_empty());
        let create = match (kept, parts) {
            (Some((keep, first)), Some(parts)) => {
                let column = &*columns[keep.time].name;
                parts.create(def, column, &partition(first), first.from, first.to)
            }
            (Some(_), None) => vec![dialect.create_table_read_backwards(def, &types)],
            (None, _) if self.asks_for_ends(table) => {
                vec![dialect.create_table_read_backwards(def, &types)]
            }
            (None, _) => vec![dialect.create_table_of(def, &types)],
        };
        create.iter().try_for_each(|statement| self.store.batch(statement))?;
        let by_time = time_in_key(self.cell.tables[table].table).filter(|_| kept.is_none());
        if let Some((time, units_per_day)) = by_time
            && let Some(part) = dialect.part_by_time(def, time, units_per_day)
        {
            self.store.batch(&part)?;
        }
        for (number, index) in indexes.iter().enumerate() {
            let of = index.iter().map(|column| dialect.column(&columns[*column].name));
            let (name, of) = (dialect.table(def.name), of.collect::<Vec<_>>().join(", "));
            let called = self.index_name(table, number);
            self.store.batch(&format!("CREATE INDEX {called} ON {name} ({of})"))?;
        }
        self.expiry = None;
        if let Some((keep, _)) = kept {
            self.is_parted = types.is_empty() && dialect.range_partitions().is_some();
            if !self.is_parted {
                self.store.expect(QueryKind::Point)?;
                self.expected = Some(QueryKind::Point);
                let texts = texts(self.store.dialect(), &self.cell.tables[table], true);
                self.expiry = Some(self.store.prepare(&texts.delete_between(keep.time))?);
            }
        }
        Ok(())
    }
}

/// The name of the partition of a stretch of time.
fn partition(stretch: &Stretch) -> String {
    format!("part_{}", stretch.number).replace('-', "m")
}

/// The time in a table's key, and how many of its units a day has.
fn time_in_key(table: &Table) -> Option<(&str, i64)> {
    let mut key = table.key.iter().map(|column| &table.columns[*column]);
    key.find_map(|column| match column.of {
        ColumnType::Timestamp(unit) => Some((&*column.name, unit.per_second() * SECONDS_PER_DAY)),
        _ => None,
    })
}

const SECONDS_PER_DAY: i64 = 86_400;

/// Whether an operation of a phase is a query, and nothing else.
const fn is_query(work: &Work) -> bool {
    let is_sequence = matches!(work, Work::Sequence(_));
    matches!(work, Work::Get { .. } | Work::Range(_)) || (is_question(work) && !is_sequence)
}

/// Whether rows are grouped by a month.
fn by_month(group: &Group) -> bool {
    group.by.iter().any(|by| matches!(by, Grouped::Month { .. }))
}

/// The type of a column of documents.
fn document_type(dialect: &dyn Dialect, document: &Document) -> Result<&'static str> {
    let unsupported = |what| EngineError::unsupported("this SQL engine", what);
    let reads = dialect.json_text("a", "b").and(dialect.json_number("a", "b"));
    if reads.is_none() {
        return Err(unsupported("reading the fields of JSON documents"));
    }
    match document.binary {
        true => dialect.binary_json().ok_or_else(|| unsupported("JSON columns of a binary form")),
        false => dialect.json().ok_or_else(|| unsupported("columns of JSON")),
    }
}

/// The parameters of a row as it is written; `documents` are those that were laid out.
fn written_params<'a, 'v: 'a>(
    written: &[Stored],
    documents: &'a [u8],
    get: impl Fn(usize) -> Value<'v>,
) -> Params<'a> {
    let mut rest = documents;
    let each = written.iter().map(|stored| match stored {
        Stored::Column(column) => param(get(*column)),
        Stored::Document(_) => Param::Text(laid(&mut rest)),
    });
    each.collect()
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
            Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
                Err(EngineError::unsupported("SQL", "this phase"))
            }
            work => {
                let dialect = self.store.dialect();
                let unsupported = |what| Err(EngineError::unsupported("this engine's SQL", what));
                match work {
                    Work::Update { .. }
                    | Work::UpdateWhere { .. }
                    | Work::Upsert { .. }
                    | Work::ReadModifyWrite { .. }
                    | Work::Delete { .. }
                        if self.cell.appends_only =>
                    {
                        unsupported("changing or deleting rows: they are only added")
                    }
                    Work::Gaps { .. } | Work::Outliers { .. } | Work::Correlate(_)
                        if !dialect.derived_tables() =>
                    {
                        unsupported("queries of queries")
                    }
                    Work::Gaps { .. } if !dialect.windows() => unsupported("window functions"),
                    Work::Group(group) if by_month(group) && dialect.month("a").is_none() => {
                        unsupported("the month of a time")
                    }
                    Work::Group(group) if by_month(group) && self.cell.rows_of(phase).early() => {
                        unsupported("the month of a time before 1970")
                    }
                    Work::Correlate(_) if !dialect.windows() && !dialect.joins_derived_tables() => {
                        unsupported("window functions")
                    }
                    _ => Ok(Execution::Native),
                }
            }
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.make(table, None)
    }

    /// In partitions, where the engine's manual advises those for rows that go by their age and the table is one that
    /// they can be of.
    fn clear_kept(&mut self, keep: &Keep, first: &Stretch) -> Result<()> {
        self.make(keep.table, Some((keep, first)))
    }

    fn begin(&mut self, keep: &Keep, stretch: &Stretch) -> Result<()> {
        let (dialect, name) = (self.store.dialect(), self.defs[keep.table].name);
        let Some(parts) = dialect.range_partitions().filter(|_| self.is_parted) else {
            return Ok(());
        };
        match parts.add(name, &partition(stretch), stretch.from, stretch.to) {
            Some(add) => self.store.batch(&add),
            None => Ok(()),
        }
    }

    fn expire(&mut self, keep: &Keep, stretch: &Stretch) -> Result<()> {
        if let Some(delete) = self.expiry {
            let within = [stretch.from, stretch.to].map(Param::Int);
            return self.store.run(delete, &within).map(drop);
        }
        let (dialect, name) = (self.store.dialect(), self.defs[keep.table].name);
        let Some(parts) = dialect.range_partitions() else { return Ok(()) };
        self.store.batch(&parts.remove(name, &partition(stretch), stretch.to))
    }

    fn expires_by(&self, _: &Keep) -> String {
        let parts = self.store.dialect().range_partitions().filter(|_| self.is_parted);
        parts.map_or("DELETE of a range of the key", |parts| parts.about()).to_owned()
    }

    fn checkpoints(&mut self) -> Result<Option<u64>> {
        self.store.checkpoints()
    }

    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        let name = self.store.dialect().table(self.defs[table].name);
        let (count, mut found) =
            (self.store.prepare(&format!("SELECT COUNT(*) FROM {name}"))?, None);
        self.store.query(count, &[], &mut |row| {
            found = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(found)
    }

    fn attach(&mut self) -> Result<()> {
        Ok(())
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        let (cell, work) = (&self.cell, self.cell.work(phase));
        let written = work.table().map_or(&[][..], |table| self.written[table]);
        match work {
            Work::Insert { .. } if !written.is_empty() => {
                let rows = &cell.rows_of(phase).staged;
                arena.lay(phase, operations, None, |i, to| {
                    lay(written, |column| rows.value(i, column), to);
                });
            }
            Work::Upsert { .. } if !written.is_empty() => {
                arena.lay(phase, operations, None, |i, to| {
                    let row = cell.upserted(phase, i);
                    lay(written, |column| row[column], to);
                });
            }
            _ => cell.lay_keys(phase, operations, arena),
        }
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    fn ready(&mut self, phase: usize, lead: usize) -> Result<()> {
        let work = self.cell.work(lead);
        // One after the other, each a short search.
        let is_short = matches!(work, Work::Latest { .. })
            && self.cell.adds_up(lead)
            && phases::seeks_each(self.store.dialect(), &self.cell, lead);
        let is_long = (is_question(work) && !is_short) || self.cell.gives_many(lead);
        self.expect(if is_long { QueryKind::Analytic } else { QueryKind::Point })?;
        self.statements.prepare(&mut *self.store, &self.cell, phase)
    }

    fn bulk(
        &mut self,
        table: usize,
        rows: usize,
        phase: Option<usize>,
        meter: &mut Meter,
    ) -> Result<u64> {
        self.expect(QueryKind::Analytic)?;
        let Self { store, cell, defs, written, arena, room, .. } = self;
        let of = &cell.tables[table];
        let mut source = of.source(rows, store.bulk_sorted(), meter);
        let laid = phase.and_then(|phase| arena.of(phase));
        let loads =
            Loads { store: &mut **store, def: defs[table], rows: of, written: written[table] };
        let loaded = loads.all(&mut source, laid, room)?;
        source.count_given();
        Ok(loaded)
    }

    fn batch(
        &mut self,
        table: usize,
        rows: ops::Range<usize>,
        phase: Option<usize>,
    ) -> Result<u64> {
        let Self { store, cell, defs, written, arena, room, .. } = self;
        let of = &cell.tables[table];
        let laid = phase.and_then(|phase| arena.of(phase));
        let loads =
            Loads { store: &mut **store, def: defs[table], rows: of, written: written[table] };
        loads.all(&mut of.between(rows), laid, room)
    }

    fn loads_csv(&self) -> bool {
        self.store.loads_csv()
    }

    fn load_csv(&mut self, table: usize, file: &CsvFile<'_>) -> Result<u64> {
        self.store.load_csv(self.defs[table], file)
    }

    fn within(&mut self, _: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, statements, arena, looked, written, room, .. } = self;
        let batches = scope == Scope::Batch;
        store.within(scope, |store| {
            work(&mut SqlSession { store, cell, statements, arena, looked, written, room, batches })
        })
    }

    fn plan(&mut self, phase: usize) -> Result<Option<String>> {
        let Self { store, cell, statements, arena, looked, written, room, .. } = self;
        if !is_query(cell.work(phase)) {
            return Ok(None);
        }
        let (texts, statements) = statements.numbered(store.dialect(), cell, phase)?;
        let (store, statements) = (&mut **store, &statements);
        let mut explaining = Explaining { store, texts, plan: None };
        let store = &mut explaining;
        let batches = false;
        let mut session =
            SqlSession { store, cell, statements, arena, looked, written, room, batches };
        match session.asks_for_all(phase) {
            true => session.latest(phase, 0, true, &mut Found::default())?,
            false => session.perform(phase, 0, &mut Found::default())?,
        }
        Ok(explaining.plan)
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let contents = texts(self.store.dialect(), &self.cell.tables[table], true).contents();
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
        let Some(names) = names.filter(|_| !indexes.is_empty() && !self.cell.appends_only) else {
            return Ok(None);
        };
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
