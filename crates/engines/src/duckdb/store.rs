//! An open DuckDB database.

use std::rc::Rc;

use super::NAME;
use super::appender;
use super::connection::Connection;
use super::dialect::DuckDialect;
use super::statement::Prepared;
use crate::sql::{Dialect, Param, Rows, SqlStore, Statement, Step, TableDef, Visit};
use crate::{Access, EngineError, Lifecycle, Result};

/// The store. It runs in this process on one connection.
pub(super) struct DuckStore {
    statements: Vec<Prepared>,
    begin: Prepared,
    commit: Prepared,
    rollback: Prepared,
    is_in_transaction: bool,
    connection: Rc<Connection>,
}

impl DuckStore {
    pub(super) fn new(connection: Rc<Connection>) -> Result<Self> {
        let prepare = |sql| Prepared::new(&connection, sql);
        Ok(Self {
            statements: Vec::new(),
            begin: prepare("BEGIN TRANSACTION")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            is_in_transaction: false,
            connection,
        })
    }

    fn statement(&self, Statement(number): Statement) -> Result<&Prepared> {
        self.statements.get(number).ok_or_else(|| {
            EngineError::failed(NAME, format!("run statement {number}"), "it was never prepared")
        })
    }

    /// Passes a result on; an error ends the transaction it came in.
    fn end_if_failed<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() && self.is_in_transaction {
            self.is_in_transaction = false;
            // A commit that failed has ended the transaction itself, and then there is none; of
            // two errors the first is the one to tell.
            let _ = self.rollback.run(&[]);
        }
        result
    }
}

impl Lifecycle for DuckStore {
    fn settle(&mut self) -> Result<()> {
        self.batch("ANALYZE; CHECKPOINT")
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Dropping closes: the statements first, then the connection, then the database, which
        // writes its checkpoint.
        Ok(())
    }
}

impl SqlStore for DuckStore {
    fn dialect(&self) -> &'static dyn Dialect {
        &DuckDialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.connection.batch(sql).map(drop);
        self.end_if_failed(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let prepared = Prepared::new(&self.connection, sql);
        let prepared = self.end_if_failed(prepared)?;
        self.statements.push(prepared);
        Ok(Statement(self.statements.len() - 1))
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        let done = self.statement(statement)?.run(params);
        self.end_if_failed(done)
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut is_visitors = false;
        let done = self.statement(statement)?.query(params, &mut |row| {
            let visited = visit(row);
            is_visitors = visited.is_err();
            visited
        });
        if is_visitors { done } else { self.end_if_failed(done) }
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        self.begin.run(&[])?;
        self.is_in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.commit.run(&[]).map(drop);
        self.end_if_failed(done)?;
        self.is_in_transaction = false;
        Ok(())
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        self.begin(Access::Write)?;
        let done = appender::append(&self.connection, table, rows);
        let count = self.end_if_failed(done)?;
        self.commit()?;
        Ok(count)
    }

    /// A short statement runs fastest on one thread, without handing work over; a long one on all.
    fn expect(&mut self, step: Step) -> Result<()> {
        self.batch(match step {
            Step::Point => "SET threads = 1",
            Step::Analytic => "RESET threads",
        })
    }
}
