//! The tables of a workload file in a document store: a collection a table, a document a row. What is
//! absent has no field.

mod harper_sql;
mod pipeline;
mod session;

use std::borrow::Cow;
use std::ops;
use std::sync::Arc;

use embermark_contract::document::{
    Collection, CollectionDef, Document, DocumentStore, Documents, Field, Filter, Find, Language,
    Order, Value as Stored,
};
use embermark_contract::{EngineError, Lifecycle, Meanwhile, Result, Scope};
use embermark_language::{Keep, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::{Column, ColumnType, Table, Value};
use smallvec::SmallVec;

use super::access::filters;
use super::arena::Arena;
use super::cell::Cell;
use super::kind::is_question;
use super::month;
use super::port::{Database, SessionWork, Stretch, VisitRow};
use super::row::{self, OwnedKey};
use super::rows::Source;
use super::table_rows::Rows;
use crate::reopenable::Reopenable;
use session::DocumentSession;

/// Values of a key.
type Key<'a> = SmallVec<[Stored<'a>; 4]>;

/// Fields of a document.
type Fields<'a> = SmallVec<[Field<'a>; 12]>;

/// A question in the store's language, and what to ask for, by name.
struct Question {
    text: String,
    columns: Vec<String>,
}

impl From<pipeline::Pipeline> for Question {
    fn from(pipeline::Pipeline { text, columns }: pipeline::Pipeline) -> Self {
        Self { text, columns }
    }
}

pub(super) struct DocumentTables {
    store: Reopenable<dyn DocumentStore>,
    cell: Arc<Cell>,
    /// By table: why it is no collection, if it is none.
    refused: Vec<Option<String>>,
    /// By table.
    defs: Vec<&'static CollectionDef>,
    collections: Vec<Collection>,
    /// The columns of each table.
    names: Vec<Vec<&'static str>>,
    /// By phase, one for each value that it is asked of: none where client code answers.
    questions: Vec<Vec<Question>>,
    /// By phase: whether the newest document of each value is looked up by the key.
    seeks: Vec<bool>,
    arena: Arc<Arena>,
    /// Keys of documents found, to be changed one by one.
    looked: Vec<OwnedKey>,
}

impl DocumentTables {
    pub(super) fn new(store: Reopenable<dyn DocumentStore>, cell: Arc<Cell>) -> Result<Self> {
        let language = store.language();
        let refused = cell.tables.iter().map(|rows| refused(rows, language)).collect();
        let tables: Vec<&'static Table> = cell.tables.iter().map(|rows| rows.table).collect();
        let defs = tables.iter().map(|table| definition(table, language)).collect();
        let names = tables.iter().map(|table| names(table, language)).collect();
        let phases = 0..cell.definition.phases.len();
        let asked = |phase: usize| {
            let times = if cell.adds_up(phase) { cell.each[phase].len() } else { 1 };
            let all = (0..times).map(|i| question(&cell, phase, i, language));
            all.collect::<Option<Vec<Question>>>().unwrap_or_default()
        };
        let questions = phases.map(asked).collect();
        let phases = 0..cell.definition.phases.len();
        let seeks = phases.map(|phase| seeks(&cell, phase, language)).collect();
        let (collections, arena, looked) = (Vec::new(), Arc::default(), Vec::new());
        let mut new = Self {
            store,
            cell,
            refused,
            defs,
            collections,
            names,
            questions,
            seeks,
            arena,
            looked,
        };
        new.attach()?;
        Ok(new)
    }
}

/// The largest integer of either sign that a double and every smaller one is.
const EXACT: i64 = 1 << 53;

/// Why a table is no collection, if it is none.
fn refused(rows: &Rows, language: Language) -> Option<String> {
    let is_binary = |column: &Column| column.within.as_ref().is_some_and(|own| own.binary);
    if rows.table.columns.iter().any(is_binary) {
        return Some("JSON in another form than its own".to_owned());
    }
    if matches!(language, Language::Pipeline) {
        return None;
    }
    // HarperDB keeps JSON.
    for (column, def) in rows.table.columns.iter().enumerate() {
        let name = &def.name;
        if def.of == ColumnType::Bytes {
            return Some(format!("bytes, as {name} has: JSON has none"));
        }
        for extreme in [rows.staged.least(column), rows.staged.greatest(column)] {
            if let Value::Int(int) = extreme
                && !(-EXACT..=EXACT).contains(&int)
            {
                return Some(format!("{int}, as {name} has: its integers are exact up to 53 bits"));
            }
        }
    }
    None
}

/// A collection lives as long as the process, which has one workload.
fn definition(table: &'static Table, language: Language) -> &'static CollectionDef {
    let names = |columns: &[usize]| -> &'static [&'static str] {
        let names = columns.iter().map(|column| name(&table.columns[*column], language));
        Vec::leak(names.collect())
    };
    let beside = (0..table.columns.len()).filter(|column| !table.key.contains(column));
    let mut indexes: Vec<&'static [&'static str]> = Vec::new();
    for index in &table.indexes {
        // HarperDB has indexes of one field, and one of the key.
        let index = match language {
            Language::Sql(_) if table.key == index[..1] => continue,
            Language::Sql(_) => names(&index[..1]),
            Language::Pipeline => names(index),
        };
        if !indexes.contains(&index) {
            indexes.push(index);
        }
    }
    Box::leak(Box::new(CollectionDef {
        name: &table.name,
        key: names(&table.key),
        indexes: Vec::leak(indexes),
        fields: names(&beside.collect::<Vec<_>>()),
    }))
}

fn names(table: &'static Table, language: Language) -> Vec<&'static str> {
    table.columns.iter().map(|column| name(column, language)).collect()
}

/// The name of a column in a document. Where nothing finds what stands within a field, it is a field itself.
fn name(column: &'static Column, language: Language) -> &'static str {
    match (language, pipeline::field_name(column)) {
        (Language::Pipeline, Cow::Owned(path)) => path.leak(),
        _ => &column.name,
    }
}

/// Whether the newest documents are found faster by one short search a value over the key than by a
/// pipeline, which reads them all: the key is one document, of which no index knows the parts.
fn seeks(cell: &Cell, phase: usize, language: Language) -> bool {
    let Work::Latest { by, time, .. } = cell.work(phase) else { return false };
    let rows = cell.rows_of(phase);
    matches!(language, Language::Pipeline) && rows.table.key == [*by, *time] && rows.has_few(*by)
}

/// What question `i` of a phase asks in the store's language, where it has words for it.
fn question(cell: &Cell, phase: usize, i: usize, language: Language) -> Option<Question> {
    let (rows, filters) = (cell.rows_of(phase), filters(cell, phase, i));
    let table = rows.table;
    match (cell.work(phase), language) {
        (Work::Latest { by, time, .. }, Language::Pipeline) => {
            Some(pipeline::latest(table, &filters, *by, *time)?.into())
        }
        (Work::Gaps { by, time, longer, .. }, Language::Pipeline) => {
            Some(pipeline::gaps(table, &filters, (*by, *time), *longer)?.into())
        }
        (Work::Outliers { of, by, deviations, .. }, Language::Pipeline) => {
            Some(pipeline::outliers(table, &filters, (*of, *by), *deviations)?.into())
        }
        (Work::Correlate(question), Language::Pipeline) => {
            Some(pipeline::correlate(table, question, &times(cell, phase))?.into())
        }
        (
            Work::Find { .. }
            | Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. }, .. },
            Language::Pipeline,
        ) => Some(pipeline::matched(table, &filters)?.into()),
        (Work::Group(group), Language::Pipeline) => {
            Some(pipeline::group(table, group, &filters, &times(cell, phase))?.into())
        }
        (Work::Group(group), Language::Sql(dialect)) => {
            let text = harper_sql::group(dialect, table, group, &filters)?;
            let columns = group.by.len() + group.compute.len() + harper_sql::sums(group).count();
            Some(Question { text, columns: (0..columns).map(|n| format!("c{n}")).collect() })
        }
        _ => None,
    }
}

/// When the rows are that a phase asks for. Of rows that the file changes the years are not known.
fn times(cell: &Cell, phase: usize) -> pipeline::Times {
    let (rows, table) = (cell.rows_of(phase), cell.work(phase).table());
    let sets = |work: &Work| match work {
        Work::Update { .. } | Work::UpdateWhere { .. } => work.table() == table,
        Work::Upsert { .. } | Work::ReadModifyWrite { .. } => work.table() == table,
        _ => false,
    };
    let early = rows.early();
    if cell.definition.phases.iter().any(|phase| sets(&phase.work)) {
        return pipeline::Times { early, years: Vec::new() };
    }
    let year = |(column, def): (usize, &Column)| {
        let ColumnType::Timestamp(unit) = def.of else { return None };
        let of = |time| month::year(time, unit);
        let (first, last) = (of(rows.start(column)), of(rows.end(column)));
        (first == last).then_some(first)
    };
    let years = rows.table.columns.iter().enumerate().map(year).collect();
    pipeline::Times { early, years }
}

#[inline]
const fn stored(value: Value<'_>) -> Stored<'_> {
    match value {
        Value::Null => Stored::Null,
        Value::Int(value) => Stored::Int(value),
        Value::Float(value) => Stored::Float(value),
        Value::Text(text) => Stored::Text(text),
        Value::Bytes(bytes) => Stored::Bytes(bytes),
    }
}

fn key_of<'a>(rows: &'a Rows, place: usize) -> Key<'a> {
    rows.key(place).into_iter().map(stored).collect()
}

/// What a row has beside its key.
fn fields_of<'a>(rows: &'a Rows, place: usize, def: &'static CollectionDef) -> Fields<'a> {
    let beside = (0..rows.table.columns.len()).filter(|column| !rows.table.key.contains(column));
    let fields = def
        .fields
        .iter()
        .zip(beside)
        .map(|(name, column)| (*name, stored(rows.value(place, column))));
    fields.filter(|(_, value)| *value != Stored::Null).collect()
}

impl Database for DocumentTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        let unsupported = |what: &str| Err(EngineError::unsupported("a document store", what));
        let work = self.cell.work(phase);
        let Some(table) = work.table() else { return unsupported("SQL of the file's own") };
        if let Some(why) = &self.refused[table] {
            return unsupported(why);
        }
        let (table, names) = (self.cell.tables[table].table, &self.names[table]);
        match work {
            Work::Range(Range { span: Span::Rows { .. }, .. })
                if table
                    .key
                    .iter()
                    .any(|column| table.columns[*column].of == ColumnType::Bytes) =>
            {
                unsupported("a range of keys with bytes: it orders them by their length first")
            }
            Work::Latest { .. }
            | Work::Gaps { .. }
            | Work::Outliers { .. }
            | Work::Correlate(_)
            | Work::Group(_)
                if self.questions[phase].is_empty() =>
            {
                Ok(Execution::ClientSide)
            }
            Work::Find { .. }
            | Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. }, .. }
                if session::equalities(table, names, &filters(&self.cell, phase, 0)).is_none()
                    && (self.questions[phase].is_empty() || !is_question(work)) =>
            {
                Ok(Execution::ClientSide)
            }
            _ => Ok(Execution::Native),
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        if self.refused[table].is_some() {
            return Ok(());
        }
        self.collections[table] = self.store.create(self.defs[table])?;
        Ok(())
    }

    fn clear_kept(&mut self, keep: &Keep, _: &Stretch) -> Result<()> {
        self.clear(keep.table)
    }

    fn expire(&mut self, keep: &Keep, stretch: &Stretch) -> Result<()> {
        let [from, to] = [stretch.from, stretch.to].map(|time| [Stored::Int(time)]);
        let filter = Filter::Keys { from: &from, to: &to };
        self.store.delete(self.collections[keep.table], &filter).map(drop)
    }

    fn expires_by(&self, _: &Keep) -> String {
        "a delete of many documents by a range of their keys".to_owned()
    }

    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        if !matches!(self.store.language(), Language::Pipeline) {
            return Ok(None);
        }
        let (all, mut count) = (r#"[{"$count": "rows"}]"#, Some(0));
        self.store.query(self.collections[table], all, &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn word(&mut self, phase: usize, i: usize) {
        let language = self.store.language();
        self.questions[phase] = question(&self.cell, phase, i, language).into_iter().collect();
    }

    fn attach(&mut self) -> Result<()> {
        self.collections.clear();
        for def in &self.defs {
            self.collections.push(self.store.collection(def)?);
        }
        Ok(())
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        self.cell.lay_keys(phase, operations, arena);
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    fn ready(&mut self, _: usize, _: usize) -> Result<()> {
        Ok(())
    }

    /// Of a table that is no collection none: what is done with it is refused.
    fn bulk(
        &mut self,
        table: usize,
        rows: usize,
        _: Option<usize>,
        meter: &mut Meter,
    ) -> Result<u64> {
        if self.refused[table].is_some() {
            return Ok(0);
        }
        let source = self.cell.tables[table].source(rows, false, meter);
        let def = self.defs[table];
        let mut documents = Feed { source, def, key: Key::new(), fields: Fields::new() };
        let loaded = self.store.bulk(self.collections[table], &mut documents)?;
        documents.source.count_given();
        Ok(loaded)
    }

    fn batch(&mut self, table: usize, rows: ops::Range<usize>, _: Option<usize>) -> Result<u64> {
        if self.refused[table].is_some() {
            return Ok(0);
        }
        let (source, def) = (self.cell.tables[table].between(rows), self.defs[table]);
        let mut documents = Feed { source, def, key: Key::new(), fields: Fields::new() };
        self.store.bulk(self.collections[table], &mut documents)
    }

    fn within(&mut self, _: usize, _: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, defs, collections, names, questions, seeks, arena, looked, .. } =
            self;
        let store: &mut dyn DocumentStore = &mut **store;
        work(&mut DocumentSession {
            store,
            cell,
            defs,
            collections,
            names,
            questions,
            seeks,
            arena,
            looked,
        })
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let columns = &self.cell.tables[table].table.columns;
        let names = &self.names[table];
        let all = Find { filter: Filter::All, order: Order::Any, limit: None, columns: names };
        self.store.find(self.collections[table], &all, &mut |found| {
            let values = columns.iter().enumerate().map(|(at, def)| row::value(found, at, def.of));
            visit(&values.collect::<Result<SmallVec<[_; 12]>>>()?);
            Ok(())
        })
    }

    /// Of those of one field that is not of the key: others it does not tell.
    fn lacks_index(&mut self, table: usize) -> Result<Option<String>> {
        let def = self.defs[table];
        let single = def.indexes.iter().filter(|index| index.len() == 1).map(|index| index[0]);
        let mut single = single.filter(|field| !def.key.contains(field)).peekable();
        if self.refused[table].is_some() || single.peek().is_none() {
            return Ok(None);
        }
        let known = self.store.indexed_fields(self.collections[table])?;
        let missing = single.find(|field| !known.iter().any(|known| known == field));
        Ok(missing.map(str::to_owned))
    }

    fn reopen_after(&mut self, meanwhile: &mut Meanwhile<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)?;
        self.attach()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// Rows on their way into a bulk load.
struct Feed<'a> {
    source: Source<'a>,
    def: &'static CollectionDef,
    key: Key<'a>,
    fields: Fields<'a>,
}

impl Documents for Feed<'_> {
    fn next(&mut self) -> Option<Document<'_>> {
        let (rows, place) = self.source.advance()?;
        self.key = key_of(rows, place);
        self.fields = fields_of(rows, place, self.def);
        Some(Document { key: &self.key, fields: &self.fields })
    }
}
