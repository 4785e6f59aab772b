//! The tables of a workload file in a document store: a collection per table, a document per row.
//! Absent values have no field.

mod definition;
mod harper_sql;
mod pipeline;
mod questions;
mod session;
mod stored;

use std::ops;
use std::sync::Arc;

use embermark_contract::document::{
    Collection, CollectionDef, DocumentStore, Filter, Find, Language, Order, Value as Stored,
};
use embermark_contract::{EngineError, Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Keep, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::{ColumnType, Table};
use smallvec::SmallVec;

use super::access::filters;
use super::arena::Arena;
use super::cell::Cell;
use super::kind::is_question;
use super::port::{Database, SessionWork, TimeStep, VisitRow};
use super::row::{self, OwnedKey};
use crate::reopenable::Reopenable;
use definition::{definition, names, refused};
use questions::{Question, question, seeks};
use session::DocumentSession;
use stored::{Feed, Fields, Key, equalities};

pub(super) struct DocumentTables {
    store: Reopenable<dyn DocumentStore>,
    cell: Arc<Cell>,
    /// Reason why each table cannot be a collection, if it cannot.
    refused: Vec<Option<String>>,
    /// By table.
    defs: Vec<&'static CollectionDef>,
    collections: Vec<Collection>,
    /// The columns of each table.
    names: Vec<Vec<&'static str>>,
    /// By phase, one per value that it asks about. Empty where client code answers.
    questions: Vec<Vec<Question>>,
    /// By phase: whether the key finds the newest document of each value.
    seeks: Vec<bool>,
    arena: Arc<Arena>,
    /// Keys of documents found, to change one by one.
    looked: Vec<OwnedKey>,
}

impl DocumentTables {
    pub(super) fn new(store: Reopenable<dyn DocumentStore>, cell: Arc<Cell>) -> Result<Self> {
        let language = store.language();
        let refused = cell.tables.iter().map(|rows| refused(rows, language)).collect();
        let tables: Vec<&'static Table> = cell.tables.iter().map(|rows| rows.table).collect();
        let defs = tables.iter().map(|table| definition(table, language)).collect();
        let names = tables.iter().map(|table| names(table, language)).collect();
        let phases = || 0..cell.definition.phases.len();
        let asked = |phase: usize| {
            let times = if cell.adds_up(phase) { cell.each[phase].len() } else { 1 };
            let all = (0..times).map(|i| question(&cell, phase, i, language));
            all.collect::<Option<Vec<Question>>>().unwrap_or_default()
        };
        let mut new = Self {
            store,
            refused,
            defs,
            collections: Vec::new(),
            names,
            questions: phases().map(asked).collect(),
            seeks: phases().map(|phase| seeks(&cell, phase, language)).collect(),
            arena: Arc::default(),
            looked: Vec::new(),
            cell,
        };
        new.attach()?;
        Ok(new)
    }
}

impl Database for DocumentTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        let unsupported = |what: &str| Err(EngineError::unsupported("a document store", what));
        let work = self.cell.work(phase);
        let Some(table) = work.table() else { return unsupported("SQL from the workload file") };
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
                if equalities(table, names, &filters(&self.cell, phase, 0)).is_none()
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

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let [from, to] = [step.from, step.to].map(|time| [Stored::Int(time)]);
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

    fn rebuild_question(&mut self, phase: usize, i: usize) {
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

    /// Loads nothing into a table that cannot be a collection, because its phases are refused.
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

    /// Checks indexes of one field outside the key. The store does not report others.
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

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)?;
        self.attach()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
