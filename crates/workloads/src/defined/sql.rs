//! The tables of a workload file in an SQL database.

mod creation;
pub(super) mod params;
mod phases;
mod session;

use std::ops::Range;
use std::sync::Arc;

use embermark_contract::sql::{CsvFile, Param, QueryKind, SqlStore, Statement, TableDef};
use embermark_contract::{Lifecycle, OfflineTask, Result, Scope};
use embermark_language::{Keep, Query, Work};
use embermark_meter::Meter;
use embermark_model::result::Execution;
use embermark_model::table::Table;

use super::documents::{lay, stored};
use super::kind::is_question;
use super::row;
use super::rows::Source;
pub(super) use super::sql::creation::{definition, of_column, sql_type};
use super::sql::creation::{document_type, partition};
use super::sql::params::Loads;
pub(super) use super::sql::phases::Statements;
use super::sql::phases::{execution, texts};
pub(super) use super::sql::session::{Buffers, SqlSession};
use super::{Arena, Cell, Database, Found, Rows, Session, SessionWork, Stored, TimeStep, VisitRow};
use crate::reopenable::Reopenable;

/// Types of columns in an engine's words, by name.
type ColumnTypes = &'static [(&'static str, &'static str)];

pub(super) struct SqlTables {
    store: Reopenable<dyn SqlStore>,
    cell: Arc<Cell>,
    /// By table.
    defs: Vec<&'static TableDef>,
    /// By table that was created before: the types of columns that do not have the usual one.
    types: Vec<Option<ColumnTypes>>,
    /// Statements prepared since the tables were created and the database was opened.
    statements: Statements,
    /// Kind of statements that the engine was last told to expect.
    expected: Option<QueryKind>,
    arena: Arc<Arena>,
    buffers: Buffers,
    /// By table with documents: its columns as they are stored. Empty for other tables.
    written: Vec<&'static [Stored]>,
    /// For the table of which a window is kept: the statement that deletes a step, unless steps are
    /// partitions.
    expiry: Option<Statement>,
}

impl SqlTables {
    /// # Errors
    /// Unsupported where a table has documents and the engine has no such type.
    pub(super) fn new(store: Reopenable<dyn SqlStore>, cell: Arc<Cell>) -> Result<Self> {
        let (mut defs, mut written) = (Vec::new(), Vec::new());
        for Rows { table, .. } in &cell.tables {
            let own: &'static [Stored] = Vec::leak(stored(table));
            let mut documents = own.iter().filter_map(Stored::document).peekable();
            written.push(if documents.peek().is_some() { own } else { &[] });
            for document in documents {
                document_type(store.dialect(), document)?;
            }
            defs.push(creation::with_documents(table, own));
        }
        Ok(Self {
            store,
            types: vec![None; defs.len()],
            defs,
            statements: Statements::new(&cell, true),
            cell,
            expected: None,
            arena: Arc::default(),
            buffers: Buffers::default(),
            written,
            expiry: None,
        })
    }

    /// Loads rows into a table, from the arena if they were laid out for a phase.
    fn load(&mut self, table: usize, phase: Option<usize>, source: &mut Source<'_>) -> Result<u64> {
        let Self { store, cell, defs, written, arena, buffers, .. } = self;
        let (def, rows, written) = (defs[table], &cell.tables[table], written[table]);
        let laid = phase.and_then(|phase| arena.strings(phase));
        Loads { store: &mut **store, def, rows, written }.all(source, laid, &mut buffers.room)
    }

    /// Announces to the engine which kind of statements follow, if that changes.
    fn expect(&mut self, kind: QueryKind) -> Result<()> {
        if self.expected != Some(kind) {
            self.store.expect(kind)?;
            self.expected = Some(kind);
        }
        Ok(())
    }
}

impl Database for SqlTables {
    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn execution(&self, phase: usize) -> Result<Execution> {
        execution(self.store.dialect(), &self.cell, phase)
    }

    fn clear(&mut self, table: usize) -> Result<()> {
        self.make(table, None)
    }

    /// Uses partitions where the engine's manual advises them for rows that expire by age, and the
    /// table can have them.
    fn clear_kept(&mut self, keep: &Keep, first: &TimeStep) -> Result<()> {
        self.make(keep.table, Some((keep, first)))
    }

    fn begin(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        let (dialect, name) = (self.store.dialect(), self.defs[keep.table].name);
        let Some(parts) = dialect.range_partitions().filter(|_| self.expiry.is_none()) else {
            return Ok(());
        };
        match parts.add(name, &partition(step), step.from, step.to) {
            Some(add) => self.store.batch(&add),
            None => Ok(()),
        }
    }

    fn expire(&mut self, keep: &Keep, step: &TimeStep) -> Result<()> {
        if let Some(delete) = self.expiry {
            let within = [step.from, step.to].map(Param::Int);
            return self.store.run(delete, &within).map(drop);
        }
        let (dialect, name) = (self.store.dialect(), self.defs[keep.table].name);
        let Some(parts) = dialect.range_partitions() else { return Ok(()) };
        self.store.batch(&parts.remove(name, &partition(step), step.to))
    }

    fn expires_by(&self, _: &Keep) -> String {
        let parts = self.store.dialect().range_partitions().filter(|_| self.expiry.is_none());
        parts.map_or("DELETE of a range of the key", |parts| parts.method()).to_owned()
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

    fn lay_out(&self, phase: usize, operations: Range<usize>, arena: &mut Arena) {
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
        // One statement after another, each a short search.
        let is_short = matches!(work.query(), Some(Query::Latest { .. }))
            && self.cell.adds_up(lead)
            && phases::seeks_each(self.store.dialect(), &self.cell, lead);
        let is_long = (is_question(work) && !is_short) || self.cell.gives_many(lead);
        self.expect(if is_long { QueryKind::Analytic } else { QueryKind::Point })?;
        self.statements.prepare(&mut *self.store, &self.cell, phase)
    }

    fn bulk(&mut self, table: usize, phase: Option<usize>, meter: &mut Meter) -> Result<u64> {
        self.expect(QueryKind::Analytic)?;
        let cell = Arc::clone(&self.cell);
        let mut source = cell.tables[table].source(self.store.bulk_sorted(), meter);
        let loaded = self.load(table, phase, &mut source)?;
        source.count_given();
        Ok(loaded)
    }

    fn batch(&mut self, table: usize, rows: Range<usize>, phase: Option<usize>) -> Result<u64> {
        let cell = Arc::clone(&self.cell);
        self.load(table, phase, &mut cell.tables[table].between(rows))
    }

    fn loads_csv(&self) -> bool {
        self.store.loads_csv()
    }

    fn load_csv(&mut self, table: usize, file: &CsvFile<'_>) -> Result<u64> {
        self.store.load_csv(self.defs[table], file)
    }

    fn within(&mut self, _: usize, scope: Scope, work: &mut SessionWork<'_>) -> Result<()> {
        let Self { store, cell, statements, arena, written, buffers, .. } = self;
        let (batches, plan) = (scope == Scope::Batch, None);
        store.within(scope, |store| {
            let mut session =
                SqlSession { store, cell, statements, arena, written, buffers, batches, plan };
            work(&mut session)
        })
    }

    fn plan(&mut self, phase: usize) -> Result<Option<String>> {
        let Self { store, cell, statements, arena, written, buffers, .. } = self;
        let is_one_query = match cell.work(phase) {
            Work::Get { .. } | Work::Range(_) => true,
            work => is_question(work) && !matches!(work, Work::Sequence(_)),
        };
        if !is_one_query {
            return Ok(None);
        }
        let mut explained = None;
        let (store, batches, plan) = (&mut **store, false, Some(&mut explained));
        let mut session =
            SqlSession { store, cell, statements, arena, written, buffers, batches, plan };
        match session.asks_for_all(phase) {
            true => session.latest_of_all(phase, &mut Found::default())?,
            false => session.perform(phase, 0, &mut Found::default())?,
        }
        Ok(explained)
    }

    fn contents(&mut self, table: usize, visit: &mut VisitRow<'_>) -> Result<()> {
        let contents = texts(self.store.dialect(), &self.cell.tables[table]).contents();
        let all = self.store.prepare(&contents)?;
        let table = self.cell.tables[table].table;
        self.store.query(all, &[], &mut |result| {
            visit(&row::values(result, table)?);
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
        let missing = indexes.iter().enumerate().find(|(number, _)| !is_there(*number));
        Ok(missing.map(|(_, index)| {
            let names: Vec<&str> = index.iter().map(|column| &*columns[*column].name).collect();
            names.join(", ")
        }))
    }

    fn reopen_after(&mut self, meanwhile: &mut OfflineTask<'_>) -> Result<()> {
        self.statements.forget();
        self.expected = None;
        self.store.reopen_after(meanwhile)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
