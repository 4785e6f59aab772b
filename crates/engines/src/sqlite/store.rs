//! An open SQLite database.

use std::rc::Rc;

use rusqlite::{Connection, ffi};

use super::dialect::SqliteDialect;
use super::statement::Prepared;
use super::{NAME, bulk};
use crate::sql::{Dialect, Param, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{Access, EngineError, Lifecycle, Result};

/// The store. It runs in this process on one connection.
pub(super) struct SqliteStore {
    statements: Vec<Prepared>,
    begin_read: Prepared,
    begin_write: Prepared,
    commit: Prepared,
    rollback: Prepared,
    connection: Rc<Connection>,
}

impl SqliteStore {
    pub(super) fn new(connection: Rc<Connection>) -> Result<Self> {
        let prepare = |sql| Prepared::new(&connection, sql);
        Ok(Self {
            statements: Vec::new(),
            begin_read: prepare("BEGIN")?,
            begin_write: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            connection,
        })
    }

    fn statement(&self, Statement(number): Statement) -> Result<&Prepared> {
        self.statements.get(number).ok_or_else(|| {
            EngineError::failed(NAME, format!("run statement {number}"), "it was never prepared")
        })
    }

    /// Rows changed since the connection was opened.
    fn changes(&self) -> i64 {
        // SAFETY: the connection is open.
        unsafe { ffi::sqlite3_total_changes64(self.connection.handle()) }
    }

    /// Passes a result on; an error ends the transaction it came in.
    fn end_if_failed<T>(&self, result: Result<T>) -> Result<T> {
        if result.is_err() && !self.connection.is_autocommit() {
            // Of two errors the first is the one to tell.
            let _ = self.rollback.run([].into_iter());
        }
        result
    }

    fn bulk(&self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        self.begin_write.run([].into_iter())?;
        let count = bulk::insert(&self.connection, table, rows)?;
        self.commit.run([].into_iter())?;
        Ok(count)
    }
}

impl Lifecycle for SqliteStore {
    fn settle(&mut self) -> Result<()> {
        // Statistics first, so that they are in the file too. The checkpoint says in its result,
        // not by an error, when something kept it from finishing.
        self.batch("ANALYZE")?;
        let doing = "checkpoint its log";
        let busy: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|e| EngineError::failed(NAME, doing, e))?;
        if busy != 0 {
            return Err(EngineError::failed(NAME, doing, "another connection is using it"));
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { statements, begin_read, begin_write, commit, rollback, connection } = *self;
        // A connection with living statements does not close.
        drop((statements, begin_read, begin_write, commit, rollback));
        let doing = "close the database";
        let connection = Rc::into_inner(connection)
            .ok_or_else(|| EngineError::failed(NAME, doing, "a statement is still in use"))?;
        connection.close().map_err(|(_, e)| EngineError::failed(NAME, doing, e))
    }
}

impl SqlStore for SqliteStore {
    fn dialect(&self) -> &'static dyn Dialect {
        &SqliteDialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let done = self.connection.execute_batch(sql);
        let done = done.map_err(|e| EngineError::failed(NAME, format!("run `{sql}`"), e));
        self.end_if_failed(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.statements.push(Prepared::new(&self.connection, sql)?);
        Ok(Statement(self.statements.len() - 1))
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        let before = self.changes();
        let done = self.statement(statement)?.run(params.iter().copied());
        self.end_if_failed(done)?;
        Ok((self.changes() - before).unsigned_abs())
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

    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.begin_read.run([].into_iter()),
            Access::Write => self.begin_write.run([].into_iter()),
        }
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.commit.run([].into_iter());
        self.end_if_failed(done)
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let done = self.bulk(table, rows);
        self.end_if_failed(done)
    }

    fn bulk_sorted(&self) -> bool {
        // A table is stored in key order: sorted, a million rows load in a tenth of the time.
        true
    }
}
