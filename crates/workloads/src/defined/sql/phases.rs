//! The prepared statements of a workload file's phases.

use embermark_contract::sql::{Dialect, SqlStore, Statement};
use embermark_contract::{EngineError, Result};
use embermark_language::Work;

use super::super::cell::Cell;
use super::super::statements::Texts;
use super::super::table_rows::Rows;

/// By phase, of those that were prepared.
pub(in super::super) struct Statements {
    by_phase: Vec<Vec<Statement>>,
    /// Whether the tables have documents where the file says so, and not their fields as columns.
    documents: bool,
}

impl Statements {
    pub(in super::super) fn new(cell: &Cell, documents: bool) -> Self {
        Self { by_phase: vec![Vec::new(); cell.definition.phases.len()], documents }
    }

    /// Those of a phase that is prepared.
    #[inline]
    pub(super) fn of(&self, phase: usize) -> &[Statement] {
        &self.by_phase[phase]
    }

    /// Prepares what an operation of a phase runs, where it is not.
    ///
    /// # Errors
    /// When the engine reports one: unsupported, of a question in the file's own words.
    pub(in super::super) fn prepare(
        &mut self,
        store: &mut dyn SqlStore,
        cell: &Cell,
        phase: usize,
    ) -> Result<()> {
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

    /// The texts of a phase, and statements whose numbers are their places.
    ///
    /// # Errors
    /// Unsupported, where the phase has none.
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

    /// Forgets those of a table that was made anew.
    pub(super) fn forget_of(&mut self, cell: &Cell, table: usize) {
        for (phase, statements) in cell.definition.phases.iter().zip(&mut self.by_phase) {
            if phase.work.table().is_none_or(|of| of == table) {
                statements.clear();
            }
        }
    }

    /// Forgets them all.
    pub(in super::super) fn forget(&mut self) {
        self.by_phase.iter_mut().for_each(Vec::clear);
    }
}

/// The texts about a table.
pub(super) fn texts<'a>(dialect: &'a dyn Dialect, rows: &'a Rows, documents: bool) -> Texts<'a> {
    Texts { dialect, rows, documents }
}

/// The statements of a phase that the file has no SQL of its own for.
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
    let values = cell.each[phase].len();
    Ok(texts(dialect, rows, documents).of(&cell.definition.phases[phase], seeks, values))
}

/// The most values that one statement is asked for.
const MOST_VALUES: usize = 500;

/// Whether the newest row of each value that is drawn is a statement of its own: where the key finds it, or there
/// are too many for one.
pub(super) fn seeks_each(dialect: &dyn Dialect, cell: &Cell, phase: usize) -> bool {
    let Work::Latest { by, time, .. } = cell.work(phase) else { return false };
    let finds = dialect.seeks_by_key() && cell.rows_of(phase).finds(&[*by, *time]);
    finds || cell.each[phase].len() > MOST_VALUES
}
