//! The tables of a workload file in a document store: a collection per table, a document per row.
//! Absent values have no field.

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
use embermark_language::{Keep, Query, Range, Removed, Span, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::ColumnType;

use super::document::questions::{question, seeks};
use super::document::session::DocumentSession;
use super::document::stored::{Feed, Fields, Key, definition, equalities, names, refused};
use super::kind::is_question;
use super::row;
use super::{
    Arena, Cell, Database, Op, OwnedKey, Question, SessionWork, TimeStep, VisitRow, filters,
};
use crate::reopenable::Reopenable;

pub(super) struct DocumentTables {
    store: Reopenable<dyn DocumentStore>,
    cell: Arc<Cell>,
    tables: Vec<TableCollection>,
    /// By phase, one per value that it asks about. Empty where client code answers.
    questions: Vec<Vec<Question>>,
    /// By phase: whether the key finds the newest document of each value.
    seeks: Vec<bool>,
    arena: Arc<Arena>,
    /// Keys of documents found, to change one by one.
    looked: Vec<OwnedKey>,
}

/// A table as a collection.
pub(super) struct TableCollection {
    /// Reason why it cannot be one, if it cannot.
    refused: Option<String>,
    def: &'static CollectionDef,
    collection: Collection,
    /// The columns of the table.
    names: Vec<&'static str>,
}

impl DocumentTables {
    pub(super) fn new(mut store: Reopenable<dyn DocumentStore>, cell: Arc<Cell>) -> Result<Self> {
        let (language, mut tables) = (store.language(), Vec::new());
        for rows in &cell.tables {
            let (refused, def) = (refused(rows, language), definition(rows.table, language));
            let (collection, names) = (store.collection(def)?, names(rows.table, language));
            tables.push(TableCollection { refused, def, collection, names });
        }
        let phases = || 0..cell.definition.phases.len();
        let asked = |phase: usize| {
            let all =
                cell.asked(phase).map(|i| question(&cell, Op::new(&cell, phase, i), language));
            all.collect::<Option<Vec<Question>>>().unwrap_or_default()
        };
        let questions = phases().map(asked).collect();
        let seeks = phases().map(|phase| seeks(&cell, phase, language)).collect();
        let (arena, looked) = (Arc::default(), Vec::new());
        Ok(Self { store, cell, tables, questions, seeks, arena, looked })
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
        if let Some(why) = &self.tables[table].refused {
            return unsupported(why);
        }
        let (table, names) = (self.cell.tables[table].table, &self.tables[table].names);
        let is_bytes = |column: &usize| table.columns[*column].of == ColumnType::Bytes;
        match work {
            Work::Range(Range { span: Span::Rows { .. }, .. })
                if table.key.iter().any(is_bytes) =>
            {
                unsupported("a range of keys with bytes: it orders them by their length first")
            }
            Work::Ask { query: Query::Find { .. }, .. }
            | Work::UpdateWhere { .. }
            | Work::Delete { removed: Removed::Where { .. }, .. }
                if equalities(table, names, &filters(&self.cell, phase, 0)).is_some() =>
            {
                Ok(Execution::Native)
            }
            Work::UpdateWhere { .. } | Work::Delete { removed: Removed::Where { .. }, .. } => {
                Ok(Execution::ClientSide)
            }
            work if is_question(work) && self.questions[phase].is_empty() => {
                Ok(Execution::ClientSide)
            }
            _ => Ok(Execution::Native),
        }
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        if self.tables[table].refused.is_some() {
            return Ok(());
        }
        self.tables[table].collection = self.store.create(self.tables[table].def)?;
        Ok(())
    }

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let [from, to] = [step.from, step.to].map(|time| [Stored::Int(time)]);
        let filter = Filter::Keys { from: &from, to: &to };
        self.store.delete(self.tables[keep.table].collection, &filter).map(drop)
    }

    fn expires_by(&self, _: &Keep) -> String {
        "a delete of the documents in a range of keys".to_owned()
    }

    fn count(&mut self, table: usize) -> Result<Option<u64>> {
        if !matches!(self.store.language(), Language::Pipeline) {
            return Ok(None);
        }
        let (all, mut count) = (r#"[{"$count": "rows"}]"#, Some(0));
        self.store.query(self.tables[table].collection, all, &["rows"], &mut |row| {
            count = row.int(0)?.and_then(|count| u64::try_from(count).ok());
            Ok(())
        })?;
        Ok(count)
    }

    fn rebuild_question(&mut self, phase: usize, i: usize) {
        let (op, language) = (Op::new(&self.cell, phase, i), self.store.language());
        self.questions[phase] = question(&self.cell, op, language).into_iter().collect();
    }

    fn lay_out(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        self.cell.lay_keys(phase, operations, arena);
    }

    fn take(&mut self, arena: Arc<Arena>) {
        self.arena = arena;
    }

    /// Loads nothing into a table that cannot be a collection, because its phases are refused.
    fn bulk(&mut self, table: usize, _: Option<usize>, meter: &mut Meter) -> Result<u64> {
        if self.tables[table].refused.is_some() {
            return Ok(0);
        }
        let source = self.cell.tables[table].source(false, meter);
        let def = self.tables[table].def;
        let mut documents = Feed { source, def, key: Key::new(), fields: Fields::new() };
        let loaded = self.store.bulk(self.tables[table].collection, &mut documents)?;
        documents.source.count_given();
        Ok(loaded)
    }

    fn batch(&mut self, table: usize, rows: ops::Range<usize>, _: Option<usize>) -> Result<u64> {
        if self.tables[table].refused.is_some() {
            return Ok(0);
        }
        let (source, def) = (self.cell.tables[table].between(rows), self.tables[table].def);
        let mut documents = Feed { source, def, key: Key::new(), fields: Fields::new() };
        self.store.bulk(self.tables[table].collection, &mut documents)
    }

    fn within(&mut self, _: usize, _: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, tables, questions, seeks, arena, looked } = self;
        let store: &mut dyn DocumentStore = &mut **store;
        work(&mut DocumentSession { store, cell, tables, questions, seeks, arena, looked })
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let TableCollection { collection, names, .. } = &self.tables[table];
        let all = Find { filter: Filter::All, order: Order::Any, limit: None, columns: names };
        let table = self.cell.tables[table].table;
        self.store.find(*collection, &all, &mut |document| {
            visit(&row::values(document, table)?);
            Ok(())
        })
    }

    /// Checks indexes of one field outside the key. The store does not report others.
    fn lacks_index(&mut self, table: usize) -> Result<Option<String>> {
        let def = self.tables[table].def;
        let single = def.indexes.iter().filter(|index| index.len() == 1).map(|index| index[0]);
        let mut single = single.filter(|field| !def.key.contains(field)).peekable();
        if self.tables[table].refused.is_some() || single.peek().is_none() {
            return Ok(None);
        }
        let known = self.store.indexed_fields(self.tables[table].collection)?;
        let missing = single.find(|field| !known.iter().any(|known| known == field));
        Ok(missing.map(str::to_owned))
    }

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.store.reopen_after(meanwhile)?;
        for table in &mut self.tables {
            table.collection = self.store.collection(table.def)?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
