//! The engine's plan for the query of a phase.

use embermark_contract::row::Visit;
use embermark_contract::sql::{Access, Dialect, Param, Rows, SqlStore, Statement, TableDef};
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_language::Work;

use super::super::kind::is_question;

/// A store that returns the plan of a query instead of running it. It changes nothing.
pub(super) struct Explaining<'a> {
    pub store: &'a mut dyn SqlStore,
    /// Texts of the statements, by number.
    pub texts: Vec<String>,
    /// The plan, once the engine has returned it.
    pub plan: Option<String>,
}

impl SqlStore for Explaining<'_> {
    fn dialect(&self) -> &'static dyn Dialect {
        self.store.dialect()
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        _: &mut Visit<'_>,
    ) -> Result<()> {
        self.plan = self.store.plan(&self.texts[statement.0], params)?;
        Ok(())
    }

    fn prepare(&mut self, _: &str) -> Result<Statement> {
        Err(is_for_queries())
    }

    fn batch(&mut self, _: &str) -> Result<()> {
        Err(is_for_queries())
    }

    fn run(&mut self, _: Statement, _: &[Param<'_>]) -> Result<u64> {
        Err(is_for_queries())
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        Err(is_for_queries())
    }

    fn commit(&mut self) -> Result<()> {
        Err(is_for_queries())
    }

    fn roll_back(&mut self) -> Result<()> {
        Err(is_for_queries())
    }

    fn bulk_insert(&mut self, _: &TableDef, _: &mut dyn Rows) -> Result<u64> {
        Err(is_for_queries())
    }
}

impl Lifecycle for Explaining<'_> {
    fn maintain(&mut self) -> Result<()> {
        Err(is_for_queries())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Err(is_for_queries())
    }
}

fn is_for_queries() -> EngineError {
    EngineError::unsupported("a plan", "anything but queries")
}

/// Returns whether an operation of a phase is one query and nothing else.
pub(super) const fn is_query(work: &Work) -> bool {
    let is_sequence = matches!(work, Work::Sequence(_));
    matches!(work, Work::Get { .. } | Work::Range(_)) || (is_question(work) && !is_sequence)
}
