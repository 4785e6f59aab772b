//! An open DuckDB database.

use std::rc::Rc;

use super::connection::Connection;
use super::dialect::DuckDialect;
use super::statement::Prepared;
use super::tier::Tiering;
use super::{NAME, Place, appender};
use crate::clients::{Moved, again_if};
use crate::sql::{Access, Dialect, Param, QueryKind, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{ClientOpener, EngineError, Join, Lifecycle, Result, Store};

/// The store. It runs in this process on one connection.
pub(super) struct DuckStore {
    open: Open,
    place: Place,
    /// What [`expect`](SqlStore::expect) has set, of an open database's own accord none.
    threads: Option<u32>,
}

/// A connection and its statements, which are dropped first.
struct Open {
    statements: Vec<Prepared>,
    begin: Prepared,
    commit: Prepared,
    rollback: Prepared,
    is_in_transaction: bool,
    /// Changes of data there have been, counted by calls.
    changes: u64,
    connection: Rc<Connection>,
}

impl DuckStore {
    pub(super) fn new(connection: Rc<Connection>, place: Place) -> Result<Self> {
        Ok(Self { open: Open::new(connection)?, place, threads: None })
    }
}

impl Open {
    fn new(connection: Rc<Connection>) -> Result<Self> {
        let prepare = |sql| Prepared::new(&connection, sql, 0);
        Ok(Self {
            statements: Vec::new(),
            begin: prepare("BEGIN TRANSACTION")?,
            commit: prepare("COMMIT")?,
            rollback: prepare("ROLLBACK")?,
            is_in_transaction: false,
            changes: 0,
            connection,
        })
    }

    /// Prepares a statement without parameters again when data has changed since. DuckDB 1.5 keeps
    /// the plan of such a one with what the statistics said of the data then, and answers wrongly
    /// when they say it no more (<https://github.com/duckdb/duckdb/pull/24696>, mended after it);
    /// one with parameters it plans at every execution.
    fn refresh(&mut self, Statement(number): Statement) -> Result<()> {
        let Some(statement) = self.statements.get_mut(number) else { return Ok(()) };
        if statement.is_stale(self.changes) {
            *statement = Prepared::new(&self.connection, statement.sql(), self.changes)?;
        }
        Ok(())
    }

    fn statement(&self, Statement(number): Statement) -> Result<&Prepared> {
        self.statements.get(number).ok_or_else(|| {
            EngineError::failed(NAME, format!("run statement {number}"), "it was never prepared")
        })
    }

    fn begin(&mut self) -> Result<()> {
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

/// Whether a change was undone for the sake of another client's, and is to be made again, as the manual
/// has it (<https://duckdb.org/docs/stable/connect/concurrency>, "optimistic concurrency control").
fn is_conflict(error: &EngineError) -> bool {
    error.to_string().contains("TransactionContext Error")
}

impl Lifecycle for DuckStore {
    fn maintain(&mut self) -> Result<()> {
        self.batch("ANALYZE; CHECKPOINT")
    }

    /// After [`ShutdownKind::Crash`] the log stays as commits left it, by
    /// `PRAGMA disable_checkpoint_on_shutdown`
    /// (<https://duckdb.org/docs/stable/configuration/pragmas>), and is replayed when it is opened.
    fn crash_on_close(&mut self) -> Result<()> {
        if self.place.tiering == Tiering::NoLog {
            let what = "recovery in the tier `none`: it writes no log, so what was committed since \
                        the last checkpoint would be lost";
            return Err(EngineError::unsupported(NAME, what));
        }
        self.open.connection.batch("PRAGMA disable_checkpoint_on_shutdown").map(drop)
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "one process can both read and write a database; several only if all of them open it to read \
             (https://duckdb.org/docs/stable/connect/concurrency)",
        )
    }

    /// Another connection to the database in this process; each is used by one thread at a time
    /// (<https://duckdb.org/docs/stable/connect/concurrency>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let place = self.place.clone();
        // SAFETY: a connection of its own, which the other thread alone will use.
        let connection = unsafe { Moved::new(self.open.connection.another()?) };
        Ok(ClientOpener::new(move || {
            let connection = connection.take();
            if place.tiering == Tiering::NoLog {
                // Attached by hand, so that no connection begins in it.
                connection.batch("USE embermark")?;
            }
            Ok(Store::Sql(Box::new(Self::new(Rc::new(connection), place)?)))
        }))
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
        let open = &mut self.open;
        open.changes += 1;
        let done = open.connection.batch(sql).map(drop);
        open.end_if_failed(done)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let open = &mut self.open;
        let prepared = Prepared::new(&open.connection, sql, open.changes);
        let prepared = open.end_if_failed(prepared)?;
        open.statements.push(prepared);
        Ok(Statement(open.statements.len() - 1))
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        let open = &mut self.open;
        open.changes += 1;
        let (alone, prepared) = (!open.is_in_transaction, open.statement(statement)?);
        let done = again_if(|error| alone && is_conflict(error), || prepared.run(params));
        open.end_if_failed(done)
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let open = &mut self.open;
        let refreshed = open.refresh(statement);
        open.end_if_failed(refreshed)?;
        let mut is_visitors = false;
        let done = open.statement(statement)?.query(params, &mut |row| {
            let visited = visit(row);
            is_visitors = visited.is_err();
            visited
        });
        if is_visitors { done } else { open.end_if_failed(done) }
    }

    fn begin(&mut self, _: Access) -> Result<()> {
        self.open.begin()
    }

    fn commit(&mut self) -> Result<()> {
        self.open.commit()
    }

    fn roll_back(&mut self) -> Result<()> {
        match std::mem::take(&mut self.open.is_in_transaction) {
            true => self.open.rollback.run(&[]).map(drop),
            false => Ok(()),
        }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let open = &mut self.open;
        open.changes += 1;
        open.begin()?;
        let done = appender::append(&open.connection, table, rows);
        let count = open.end_if_failed(done)?;
        open.commit()?;
        Ok(count)
    }

    /// A short statement runs fastest on one thread, without handing work over; a long one on all.
    fn expect(&mut self, step: QueryKind) -> Result<()> {
        let (sql, threads) = match step {
            QueryKind::Point => ("SET threads = 1", Some(1)),
            QueryKind::Analytic => ("RESET threads", None),
        };
        self.batch(sql)?;
        self.threads = threads;
        Ok(())
    }
}
