//! An open SQLite database.

use std::rc::Rc;

use embermark_model::Durability;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ffi};

use super::dialect::SqliteDialect;
use super::statement::Prepared;
use super::tier::TIERS;
use super::{Client, FILE, NAME, bulk, connect};
use crate::ClientOpener;
use crate::clients::PATIENCE;
use crate::sql::{Access, Dialect, Param, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{EngineError, Join, Lifecycle, OpenOptions, Result, Store};

/// The store. It runs in this process on one connection.
pub(super) struct SqliteStore {
    open: Open,
    options: OpenOptions,
}

/// A connection and its statements.
struct Open {
    statements: Vec<Prepared>,
    begin_read: Prepared,
    begin_write: Prepared,
    commit: Prepared,
    rollback: Prepared,
    connection: Rc<Connection>,
}

impl SqliteStore {
    pub(super) fn new(connection: Rc<Connection>, options: &OpenOptions) -> Result<Self> {
        Ok(Self { open: Open::new(connection)?, options: options.clone() })
    }
}

impl Open {
    fn new(connection: Rc<Connection>) -> Result<Self> {
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

    fn close(self) -> Result<()> {
        let Self { statements, begin_read, begin_write, commit, rollback, connection } = self;
        // A connection with living statements does not close.
        drop((statements, begin_read, begin_write, commit, rollback));
        let doing = "close the database";
        let connection = Rc::into_inner(connection)
            .ok_or_else(|| EngineError::failed(NAME, doing, "a statement is still in use"))?;
        connection.close().map_err(|(_, e)| EngineError::failed(NAME, doing, e))
    }
}

impl Lifecycle for SqliteStore {
    fn maintain(&mut self) -> Result<()> {
        // Statistics first, so that they are in the file too. The checkpoint says in its result,
        // not by an error, when something kept it from finishing.
        self.batch("ANALYZE")?;
        let doing = "checkpoint its log";
        let busy: i64 = self
            .open
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|e| EngineError::failed(NAME, doing, e))?;
        if busy != 0 {
            return Err(EngineError::failed(NAME, doing, "another connection is using it"));
        }
        Ok(())
    }

    /// After [`ShutdownKind::Crash`] the write-ahead log stays as commits left it, by
    /// `SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE`
    /// (<https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>), and is recovered by the first
    /// statement that reads.
    fn crash_on_close(&mut self) -> Result<()> {
        if self.options.durability == Durability::None {
            let what = "recovery in the tier `none`: its journal is in memory, so there is no log to \
                        recover";
            return Err(EngineError::unsupported(NAME, what));
        }
        let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        let set = self.open.connection.set_db_config(keep, true);
        set.map_err(|e| EngineError::failed(NAME, "leave its log as it is", e)).map(drop)
    }

    fn join(&self) -> Join {
        match TIERS.of(self.options.durability).set.exclusive {
            Some(why) => Join::Exclusive(why),
            None => Join::At(self.options.dir.join(FILE).display().to_string()),
        }
    }

    /// Another connection to the same file. One that finds the file locked for writing waits by
    /// SQLite's own busy handler (<https://www.sqlite.org/c3ref/busy_timeout.html>), which sleeps 1 ms
    /// at first and up to 100 ms later.
    fn open_client(&mut self) -> Result<ClientOpener> {
        if let Some(why) = TIERS.of(self.options.durability).set.exclusive {
            return Err(EngineError::unsupported(NAME, format!("a second connection: {why}")));
        }
        let options = self.options.clone();
        Ok(ClientOpener::new(move || {
            let connection = connect(&options, Client::Further)?;
            let patient = connection.busy_timeout(PATIENCE);
            patient.map_err(|e| EngineError::failed(NAME, "set its busy handler", e))?;
            Ok(Store::Sql(Box::new(SqliteStore::new(connection, &options)?)))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.open.close()
    }
}

impl SqlStore for SqliteStore {
    fn dialect(&self) -> &'static dyn Dialect {
        &SqliteDialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        let open = &mut self.open;
        let done = open.connection.execute_batch(sql);
        let done = done.map_err(|e| EngineError::failed(NAME, format!("run `{sql}`"), e));
        open.end_if_failed(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let open = &mut self.open;
        open.statements.push(Prepared::new(&open.connection, sql)?);
        Ok(Statement(open.statements.len() - 1))
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        let open = &mut self.open;
        let before = open.changes();
        let done = open.statement(statement)?.run(params.iter().copied());
        open.end_if_failed(done)?;
        Ok((open.changes() - before).unsigned_abs())
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let open = &mut self.open;
        let mut is_visitors = false;
        let done = open.statement(statement)?.query(params, &mut |row| {
            let visited = visit(row);
            is_visitors = visited.is_err();
            visited
        });
        if is_visitors { done } else { open.end_if_failed(done) }
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        let open = &mut self.open;
        match access {
            Access::Read => open.begin_read.run([].into_iter()),
            Access::Write => open.begin_write.run([].into_iter()),
        }
    }

    fn commit(&mut self) -> Result<()> {
        let open = &mut self.open;
        let done = open.commit.run([].into_iter());
        open.end_if_failed(done)
    }

    fn roll_back(&mut self) -> Result<()> {
        let Open { connection, rollback, .. } = &self.open;
        if connection.is_autocommit() { Ok(()) } else { rollback.run([].into_iter()) }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let open = &mut self.open;
        let done = open.bulk(table, rows);
        open.end_if_failed(done)
    }

    fn bulk_sorted(&self) -> bool {
        // A table is stored in key order: sorted, a million rows load in a tenth of the time.
        true
    }
}
