//! Prepared statements of a workload file's phases, and which phases a dialect can express.

use embermark_contract::sql::{Dialect, SqlStore, Statement};
use embermark_contract::{EngineError, Result};
use embermark_language::{Group, Grouped, Query, Work};
use embermark_model::result::Execution;

use super::super::kind::changes_rows;
use super::super::statements::Texts;
use super::super::{Cell, Rows};

/// The prepared statements, by phase.
pub struct Statements {
    by_phase: Vec<Vec<Statement>>,
    /// Whether tables store documents as the file defines them, instead of their fields as columns.
    documents: bool,
}

impl Statements {
    pub fn new(cell: &Cell, documents: bool) -> Self {
        Self { by_phase: vec![Vec::new(); cell.definition.phases.len()], documents }
    }

    /// Returns the statements of a prepared phase.
    #[inline]
    pub(super) fn of_phase(&self, phase: usize) -> &[Statement] {
        &self.by_phase[phase]
    }

    /// Prepares the statements of a phase, unless they are prepared.
    ///
    /// # Errors
    /// Returns the engine's error. For a question with its own SQL text the error is unsupported.
    pub fn prepare(&mut self, store: &mut dyn SqlStore, cell: &Cell, phase: usize) -> Result<()> {
        if !self.by_phase[phase].is_empty() {
            return Ok(());
        }
        let is_of_file = matches!(cell.work(phase), Work::Sql(_));
        for text in self.texts(store.dialect(), cell, phase)? {
            self.by_phase[phase].push(match is_of_file {
                true => store.prepare_untrusted(&text).map_err(EngineError::impossible)?,
                false => store.prepare(&text)?,
            });
        }
        Ok(())
    }

    /// Returns the texts of the statements of a phase: its own in the file, or generated ones.
    ///
    /// # Errors
    /// Unsupported where the phase has none.
    pub(super) fn texts(
        &self,
        dialect: &dyn Dialect,
        cell: &Cell,
        phase: usize,
    ) -> Result<Vec<String>> {
        let work = cell.work(phase);
        if let Work::Sql(sql) = work {
            return Ok(vec![cell.text_of(sql)?.to_owned()]);
        }
        let Some(table) = work.table() else {
            return Err(EngineError::unsupported("SQL", "this phase"));
        };
        let rows = &cell.tables[table];
        let seeks = match work.query() {
            Some(Query::Latest { .. }) if cell.adds_up(phase) => seeks_each(dialect, cell, phase),
            Some(&Query::Latest { by, time }) => {
                dialect.seeks_by_key()
                    && dialect.derived_tables()
                    && rows.finds(&[by, time])
                    && !dialect.skips_in_groups()
                    && rows.has_few(by)
            }
            _ => false,
        };
        let each = cell.each(phase, 0).map(|(column, _)| column);
        let texts = Texts { dialect, rows, documents: self.documents, each };
        Ok(texts.statements(work, seeks, cell.each[phase].len()))
    }

    /// Forgets the statements of a table that was created again.
    pub(super) fn forget_of(&mut self, cell: &Cell, table: usize) {
        for (phase, statements) in cell.definition.phases.iter().zip(&mut self.by_phase) {
            if phase.work.table().is_none_or(|of| of == table) {
                statements.clear();
            }
        }
    }

    /// Forgets all statements.
    pub fn forget(&mut self) {
        self.by_phase.iter_mut().for_each(Vec::clear);
    }
}

/// Returns the texts for a table that stores documents as the file defines them.
pub(super) fn texts<'a>(dialect: &'a dyn Dialect, rows: &'a Rows) -> Texts<'a> {
    Texts { dialect, rows, documents: true, each: None }
}

/// Most values in one statement.
const MOST_VALUES: usize = 500;

/// Returns whether the newest row of each value has its own statement, because the key finds it or
/// there are too many values for one.
pub(super) fn seeks_each(dialect: &dyn Dialect, cell: &Cell, phase: usize) -> bool {
    let Some(&Query::Latest { by, time }) = cell.work(phase).query() else { return false };
    let finds = dialect.seeks_by_key() && cell.rows_of(phase).finds(&[by, time]);
    finds || cell.each[phase].len() > MOST_VALUES
}

/// Returns whether the engine or client code does the work of a phase, or why this dialect cannot
/// express it.
pub(super) fn execution(dialect: &dyn Dialect, cell: &Cell, phase: usize) -> Result<Execution> {
    let unsupported = |what| Err(EngineError::unsupported("this engine's SQL", what));
    match cell.work(phase) {
        Work::Sql(sql) => cell.text_of(sql).map(|_| Execution::Native),
        Work::Mix(_) | Work::Sequence(_) | Work::Keep(_) | Work::Arrive(_) => {
            Err(EngineError::unsupported("SQL", "this phase"))
        }
        Work::Insert { .. } => Ok(Execution::Native),
        work if cell.appends_only && changes_rows(work) => {
            unsupported("changing or deleting rows: they are only added")
        }
        Work::Ask { query, .. } => {
            lacking(dialect, cell.rows_of(phase), query).map_or(Ok(Execution::Native), unsupported)
        }
        Work::Get { .. }
        | Work::Open { .. }
        | Work::Range(_)
        | Work::Update { .. }
        | Work::UpdateWhere { .. }
        | Work::Upsert { .. }
        | Work::ReadModifyWrite { .. }
        | Work::Delete { .. } => Ok(Execution::Native),
    }
}

/// Returns what the SQL of a query needs that a dialect lacks.
fn lacking(dialect: &dyn Dialect, rows: &Rows, query: &Query) -> Option<&'static str> {
    match query {
        Query::Gaps { .. } | Query::Outliers { .. } | Query::Correlate(_)
            if !dialect.derived_tables() =>
        {
            Some("queries of queries")
        }
        Query::Gaps { .. } if !dialect.windows() => Some("window functions"),
        Query::Correlate(_) if !dialect.windows() && !dialect.joins_derived_tables() => {
            Some("window functions")
        }
        Query::Group(group) if by_month(group) && dialect.month("a").is_none() => {
            Some("the month of a time")
        }
        Query::Group(group) if by_month(group) && rows.early() => {
            Some("the month of a time before 1970")
        }
        Query::Latest { .. }
        | Query::Find { .. }
        | Query::Gaps { .. }
        | Query::Outliers { .. }
        | Query::Correlate(_)
        | Query::Group(_) => None,
    }
}

/// Returns whether rows are grouped by month.
fn by_month(group: &Group) -> bool {
    group.by.iter().any(|by| matches!(by, Grouped::Month { .. }))
}
