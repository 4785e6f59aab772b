//! Prepared statements of a workload file's phases, and which phases a dialect can express.

use embermark_contract::sql::{Dialect, SqlStore, Statement};
use embermark_contract::{EngineError, Result};
use embermark_language::{Group, Grouped, Work};
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
        let statements = &mut self.by_phase[phase];
        if !statements.is_empty() {
            return Ok(());
        }
        if let Work::Sql(sql) = cell.work(phase) {
            let prepared = store.prepare_untrusted(cell.text_of(sql)?);
            statements.push(prepared.map_err(EngineError::impossible)?);
            return Ok(());
        }
        for text in generated(store.dialect(), cell, phase, self.documents)? {
            statements.push(store.prepare(&text)?);
        }
        Ok(())
    }

    /// Returns the texts of a phase, and statements numbered by their index.
    ///
    /// # Errors
    /// Unsupported where the phase has none.
    pub(super) fn numbered(
        &self,
        dialect: &dyn Dialect,
        cell: &Cell,
        phase: usize,
    ) -> Result<(Vec<String>, Self)> {
        let texts = match cell.work(phase) {
            Work::Sql(sql) => vec![cell.text_of(sql)?.to_owned()],
            _ => generated(dialect, cell, phase, self.documents)?,
        };
        let mut numbered = Self::new(cell, self.documents);
        numbered.by_phase[phase] = (0..texts.len()).map(Statement).collect();
        Ok((texts, numbered))
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

/// Returns the texts for a table.
pub(super) fn texts<'a>(dialect: &'a dyn Dialect, rows: &'a Rows, documents: bool) -> Texts<'a> {
    Texts { dialect, rows, documents, each: None }
}

/// Returns the generated statements of a phase that has no SQL of its own.
fn generated(
    dialect: &dyn Dialect,
    cell: &Cell,
    phase: usize,
    documents: bool,
) -> Result<Vec<String>> {
    let work = cell.work(phase);
    let Some(table) = work.table() else {
        return Err(EngineError::unsupported("SQL", "this phase"));
    };
    let rows = &cell.tables[table];
    let seeks = match work {
        Work::Latest { .. } if cell.adds_up(phase) => seeks_each(dialect, cell, phase),
        Work::Latest { by, time, .. } => {
            dialect.seeks_by_key()
                && dialect.derived_tables()
                && rows.finds(&[*by, *time])
                && !dialect.skips_in_groups()
                && rows.has_few(*by)
        }
        _ => false,
    };
    let each = cell.each(phase, 0).map(|(column, _)| column);
    Ok(Texts { dialect, rows, documents, each }.statements(work, seeks, cell.each[phase].len()))
}

/// Most values in one statement.
const MOST_VALUES: usize = 500;

/// Returns whether the newest row of each value has its own statement, because the key finds it or
/// there are too many values for one.
pub(super) fn seeks_each(dialect: &dyn Dialect, cell: &Cell, phase: usize) -> bool {
    let Work::Latest { by, time, .. } = cell.work(phase) else { return false };
    let finds = dialect.seeks_by_key() && cell.rows_of(phase).finds(&[*by, *time]);
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
        Work::Gaps { .. } | Work::Outliers { .. } | Work::Correlate(_)
            if !dialect.derived_tables() =>
        {
            unsupported("queries of queries")
        }
        Work::Gaps { .. } if !dialect.windows() => unsupported("window functions"),
        Work::Group(group) if by_month(group) && dialect.month("a").is_none() => {
            unsupported("the month of a time")
        }
        Work::Group(group) if by_month(group) && cell.rows_of(phase).early() => {
            unsupported("the month of a time before 1970")
        }
        Work::Correlate(_) if !dialect.windows() && !dialect.joins_derived_tables() => {
            unsupported("window functions")
        }
        Work::Get { .. }
        | Work::Open { .. }
        | Work::Latest { .. }
        | Work::Range(_)
        | Work::Find { .. }
        | Work::Gaps { .. }
        | Work::Outliers { .. }
        | Work::Correlate(_)
        | Work::Group(_)
        | Work::Update { .. }
        | Work::UpdateWhere { .. }
        | Work::Upsert { .. }
        | Work::ReadModifyWrite { .. }
        | Work::Delete { .. } => Ok(Execution::Native),
    }
}

/// Returns whether rows are grouped by month.
fn by_month(group: &Group) -> bool {
    group.by.iter().any(|by| matches!(by, Grouped::Month { .. }))
}
