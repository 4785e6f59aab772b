//! The tables of a workload file in an SQL database.

mod changes;
mod definition;
mod phases;
mod plan;

use std::ops;
use std::sync::Arc;

use embermark_contract::sql::{
    CsvFile, Dialect, Param, QueryKind, Rows as BulkRows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::{Asked, Condition, Group, Grouped, Keep, Removed, Set, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, OwnedValue, Table, Value};
use smallvec::SmallVec;

use super::arena::{Arena, Strings};
use super::cell::{Cell, Rows, conditions_of, is_question};
use super::documents::{Document, Stored, laid, lay, stored};
use super::port::{Database, Found, Session, SessionWork, Shared, Steps, Stretch, VisitRow};
use super::row;
use super::rows::Source;
use super::statements::{begins_at_parameters, bounds, outliers_ask_for};
use crate::reopenable::Reopenable;
use changes::Changes;
use phases::texts;
use plan::Explaining;

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
            Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) => {
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
                        if self.store.is_append_only() =>
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
        let Some(names) = names.filter(|_| !indexes.is_empty() && !self.store.is_append_only())
        else {
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

/// Rows on their way into a table.
struct TableRows<'s, 'a> {
    source: &'s mut Source<'a>,
    row: Params<'a>,
}

impl BulkRows for TableRows<'_, '_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (rows, place) = self.source.advance()?;
        self.row.clear();
        self.row.extend(rows.row(place).map(param));
        Some(&self.row)
    }
}

/// Rows whose documents are made at once, where they were not laid out before.
const PIECE: usize = 65_536;

/// Gives the place of a row, and its documents.
type Next<'n, 'd> = dyn FnMut() -> Option<(usize, &'d [u8])> + 'n;

/// Gives a table rows, many at once.
struct Loads<'a> {
    store: &'a mut dyn SqlStore,
    def: &'static TableDef,
    rows: &'a Rows,
    /// See [`SqlTables`].
    written: &'static [Stored],
}

impl<'a> Loads<'a> {
    /// Gives it all rows of a source; how many the engine says there were.
    fn all(
        mut self,
        source: &mut Source<'_>,
        laid: Option<Strings<'_>>,
        room: &mut Vec<u8>,
    ) -> Result<u64> {
        if self.written.is_empty() {
            return self.store.bulk_insert(self.def, &mut TableRows { source, row: Params::new() });
        }
        if let Some(laid) = laid {
            return self.some(&mut || source.advance().map(|(_, place)| (place, laid.at(place))));
        }
        let (mut places, mut ends, mut loaded) = (Vec::new(), Vec::new(), 0);
        loop {
            places.clear();
            ends.clear();
            room.clear();
            for place in std::iter::from_fn(|| source.advance()).map(|(_, at)| at).take(PIECE) {
                lay(self.written, |column| self.rows.value(place, column), room);
                places.push(place);
                ends.push(room.len());
            }
            if places.is_empty() {
                break;
            }
            let (mut from, mut each) = (0, places.iter().zip(&ends));
            loaded += self.some(&mut || {
                let (place, end) = each.next()?;
                Some((*place, &room[std::mem::replace(&mut from, *end)..*end]))
            })?;
        }
        Ok(loaded)
    }

    /// Gives it rows with documents: in a binary form by statements in one transaction, as a bulk path takes values as
    /// they are, and what makes that form is a function.
    fn some<'d>(&mut self, next: &mut Next<'_, 'd>) -> Result<u64>
    where
        'a: 'd,
    {
        let Self { store, def, rows, written } = self;
        let mut each = DocumentRows { rows, written, next, row: Params::new() };
        if !written.iter().filter_map(Stored::document).any(|document| document.binary) {
            return store.bulk_insert(def, &mut each);
        }
        let insert = store.prepare(&texts(store.dialect(), rows, true).insert())?;
        store.within(Scope::Batch, |store| store.run_each(insert, &mut each))
    }
}

/// Rows with documents on their way into a table.
struct DocumentRows<'n, 'd> {
    rows: &'d Rows,
    written: &'static [Stored],
    next: &'n mut (dyn FnMut() -> Option<(usize, &'d [u8])> + 'n),
    row: Params<'d>,
}

impl BulkRows for DocumentRows<'_, '_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        let (place, documents) = (self.next)()?;
        self.row = written_params(self.written, documents, |column| self.rows.value(place, column));
        Some(&self.row)
    }
}

pub(super) struct SqlSession<'a> {
    pub store: &'a mut dyn SqlStore,
    pub cell: &'a Cell,
    pub statements: &'a Statements,
    pub arena: &'a Arena,
    pub looked: &'a mut Vec<OwnedKey>,
    /// By table, see [`SqlTables`]; nothing where no rows are written.
    pub written: &'a [&'static [Stored]],
    pub room: &'a mut Vec<u8>,
    /// Whether a transaction is open that changes are part of.
    pub batches: bool,
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

    /// Puts a row in that has documents, as they were laid out or made now.
    fn write<'v>(
        &mut self,
        phase: usize,
        i: usize,
        written: &[Stored],
        get: impl Fn(usize) -> Value<'v>,
    ) -> Result<u64> {
        let documents = match self.arena.of(phase) {
            Some(laid) => laid.at(i),
            None => {
                self.room.clear();
                lay(written, &get, self.room);
                &*self.room
            }
        };
        let row = written_params(written, documents, get);
        self.store.run(self.statements.of(phase)[0], &row)
    }

    /// The bounds of conditions that are parameters.
    fn bounds(&self, rows: &'a Rows, conditions: &'a [Condition]) -> Params<'a> {
        bounds(self.store.dialect(), rows, conditions).map(param).collect()
    }

    /// The value of whose rows question `i` of a phase is, where it is of one.
    fn each_value(&self, phase: usize, i: usize) -> Option<Param<'a>> {
        self.cell.each(phase, i).map(|(_, value)| param(value))
    }

    /// Whether the newest rows of all values that are drawn are found by one statement.
    fn asks_for_all(&self, phase: usize) -> bool {
        let Work::Latest { by, .. } = self.cell.work(phase) else { return false };
        let each = self.cell.each(phase, 0);
        each.is_some_and(|(column, _)| column == *by)
            && !phases::seeks_each(self.store.dialect(), self.cell, phase)
    }

    /// Finds the newest rows: with `all` those of all values that are drawn, by one statement.
    fn latest(&mut self, phase: usize, i: usize, all: bool, found: &mut Found) -> Result<()> {
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
        found: &mut Found,
    ) -> Result<()> {
        self.store.query(self.statements.of(phase)[n], key, &mut |result| {
            found.rows += row::beside_key(result, rows.table, key)?;
            Ok(())
        })
    }

    fn changes(&self) -> Changes<'a> {
        Changes { cell: self.cell, arena: self.arena, written: self.written }
    }

    /// Whether changes are sent without waiting for the answer to each: those of a transaction, where the engine has
    /// means for that and none waits for a time of its own.
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
        self.store.run(self.statements.of(phase)[statement], &params)
    }

    fn group(
        &mut self,
        (phase, i): (usize, usize),
        group: &'a Group,
        rows: &'a Rows,
        found: &mut Found,
    ) -> Result<()> {
        let mut params = self.bounds(rows, &group.conditions);
        params.extend(self.each_value(phase, i));
        self.cell.begin_question(phase, found);
        self.store.query(self.statements.of(phase)[0], &params, &mut |result| {
            row::group(result, group, rows, &mut found.result)
        })
    }
}

impl Session for SqlSession<'_> {
    fn each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        if self.asks_for_all(phase) {
            return part.part.at_once(|| self.latest(phase, 0, true, found));
        }
        if self.pipelines(&part)
            && let Some(params) = self.changes().parameters(phase)
        {
            let statement = self.statements.of(phase)[0];
            let (ops, changed) = changes::send(self.store, statement, part, params)?;
            let upserts = matches!(self.cell.work(phase), Work::Upsert { .. });
            // How many rows an upsert changes, each engine counts in its own way.
            found.changed += if upserts { ops } else { changed };
            found.pipelined = true;
            return Ok(ops);
        }
        part.each(|i| self.perform(phase, i, found))
    }

    fn look(&mut self, phase: usize) -> Result<usize> {
        let rows = self.cell.rows_of(phase);
        let bounds = self.bounds(rows, conditions_of(self.cell.work(phase)));
        let looked = &mut *self.looked;
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
        let params = self.changes().of_found(phase, &self.looked[n]);
        found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
        Ok(())
    }

    fn change_each(&mut self, phase: usize, part: Shared<'_>, found: &mut Found) -> Result<u64> {
        if !self.pipelines(&part) {
            return part.each(|n| self.change(phase, n, found));
        }
        let (changes, looked, statement) =
            (self.changes(), &*self.looked, self.statements.of(phase)[0]);
        let params = |n: usize| changes.of_found(phase, &looked[n]);
        let (ops, changed) = changes::send(self.store, statement, part, params)?;
        found.changed += changed;
        found.pipelined = true;
        Ok(ops)
    }

    fn perform(&mut self, phase: usize, i: usize, found: &mut Found) -> Result<()> {
        let cell = self.cell;
        let (work, rows) = (cell.work(phase), cell.rows_of(phase));
        match work {
            Work::Insert { table, .. } => {
                let get = |column| rows.value(i, column);
                found.changed += match self.written[*table] {
                    [] => {
                        let row: Params<'_> = rows.row(i).map(param).collect();
                        self.store.run(self.statements.of(phase)[0], &row)?
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
                    params.extend(cell.of(phase, i).map(param));
                    let (from, to) = cell.times(phase, i);
                    params.extend([Param::Int(from), Param::Int(to)]);
                }
                self.rows(phase, 0, &params, rows, found)?;
            }
            Work::Gaps { by, .. } => {
                cell.begin_question(phase, found);
                let each = Params::from_iter(self.each_value(phase, i));
                self.store.query(self.statements.of(phase)[0], &each, &mut |result| {
                    row::gap(result, rows.of(*by), &mut found.result)
                })?;
            }
            Work::Outliers { of, .. } => {
                cell.begin_question(phase, found);
                let times = outliers_ask_for(self.store.dialect());
                let each = self.each_value(phase, i);
                let each: Params<'_> = each.into_iter().cycle().take(times).collect();
                self.store.query(self.statements.of(phase)[0], &each, &mut |result| {
                    row::outlier(result, rows.table, *of, &mut found.result)
                })?;
            }
            Work::Correlate(question) => {
                cell.begin_question(phase, found);
                let computed = self.store.dialect().correlation("y", "x").is_some();
                let two = question.between.iter().flatten();
                let two: Params<'_> = two.map(|value| param(value.as_value())).collect();
                self.store.query(self.statements.of(phase)[0], &two, &mut |result| {
                    row::correlation(result, computed, &mut found.result)
                })?;
            }
            Work::Find { conditions, select, .. } => {
                found.rows = Default::default();
                let bounds = self.bounds(rows, conditions);
                self.store.query(self.statements.of(phase)[0], &bounds, &mut |result| {
                    found.rows += row::some(result, rows.table, select)?;
                    Ok(())
                })?;
            }
            Work::UpdateWhere { conditions, set, .. } => {
                let mut params: Params<'_> =
                    set.iter().map(|(_, value)| param(value.as_value())).collect();
                params.extend(self.bounds(rows, conditions));
                found.changed += self.store.run(self.statements.of(phase)[0], &params)?;
            }
            Work::Group(group) => self.group((phase, i), group, rows, found)?,
            Work::Upsert { table, .. } => {
                let row = cell.upserted(phase, i);
                // How many rows that changes, each engine counts in its own way.
                match self.written[*table] {
                    [] => {
                        let row: Params<'_> = row.into_iter().map(param).collect();
                        self.store.run(self.statements.of(phase)[0], &row)?;
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
                let get = self.statements.of(phase).len() - 1;
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
            Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) => {}
        }
        Ok(())
    }
}
