//! The database behind a connection.

use std::mem;

use mysql::Error;
use mysql::prelude::Queryable;

use super::dialect::MariaSql;
use super::load::load;
use super::param::values;
use super::row::View;
use super::session::Session;
use super::{NAME, failed};
use crate::clients::again_if;
use crate::server::{self, Server};
use crate::sql::{Dialect, Param, ResultRow, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{Access, Door, Ending, EngineError, Join, Lifecycle, Result};

/// A user of a server that is given may lack the right to a statement
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>): to a database, a table, or at all.
const ACCESS_DENIED: [u16; 3] = [1044, 1142, 1227];

/// A deadlock, and a record that another transaction has changed meanwhile.
const CONFLICTS: [u16; 2] = [1213, 1020];

struct Prepared {
    statement: mysql::Statement,
    sql: String,
}

/// A database of MariaDB. Fields are dropped in order: the connection before its server.
pub(super) struct MariaDbStore {
    prepared: Vec<Prepared>,
    session: Session,
    server: Option<Server>,
    in_transaction: bool,
}

impl MariaDbStore {
    pub fn new(session: Session, server: Option<Server>) -> Self {
        Self { prepared: Vec::new(), session, server, in_transaction: false }
    }

    /// MariaDB itself would undo the statement alone and go on.
    fn after_error(&mut self, error: EngineError) -> EngineError {
        if mem::take(&mut self.in_transaction) {
            // The first error is the one to report; a lost connection shows in the next call too.
            let _ = self.session.run("ROLLBACK");
        }
        error
    }

    /// Runs a prepared statement, visits its rows, and gives the number the server counted.
    fn stream(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        mut visit: impl FnMut(&dyn ResultRow) -> Result<()>,
    ) -> Result<u64> {
        let Some(Prepared { statement, sql }) = self.prepared.get(statement.0) else {
            let why = format!("{statement:?} was never prepared");
            return Err(EngineError::failed(NAME, "run a statement", why));
        };
        let conn = &mut self.session.conn;
        let run = || -> std::result::Result<u64, Stopped> {
            let params = values(params).map_err(Stopped::Caller)?;
            let mut result = conn.exec_iter(statement, params)?;
            let changed = result.affected_rows();
            // A visitor that stops leaves rows behind: dropped, the result reads them.
            for row in &mut result {
                visit(&View(&row?)).map_err(Stopped::Caller)?;
            }
            Ok(changed)
        };
        let alone = !self.in_transaction;
        match again_if(|stopped| alone && stopped.is_conflict(), run) {
            Ok(changed) => Ok(changed),
            Err(Stopped::Server(e)) => {
                let error = failed(format!("run `{sql}`"), &e);
                Err(self.after_error(error))
            }
            // The server did nothing wrong: a transaction goes on.
            Err(Stopped::Caller(e)) => Err(e),
        }
    }

    fn end(&mut self, sql: &str) -> Result<()> {
        self.in_transaction = false;
        self.session.run(sql)
    }

    /// The tables of the database, quoted.
    fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT table_name FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'";
        let names: std::result::Result<Vec<String>, _> = self.session.conn.query(sql);
        let names = names.map_err(|e| failed("list its tables", &e))?;
        Ok(names.iter().map(|name| format!("`{}`", name.replace('`', "``"))).collect())
    }

    /// Fresh statistics, of every column as well, for the planner
    /// (<https://mariadb.com/kb/en/engine-independent-table-statistics/>).
    fn analyze(&mut self, tables: &str) -> Result<()> {
        let sql = format!("ANALYZE TABLE {tables} PERSISTENT FOR ALL");
        let could_not = |e| failed(format!("run `{sql}`"), &e);
        // Table, what was done, kind of message, message: an error is a row, too.
        let rows: Vec<(String, String, String, String)> =
            self.session.conn.query(&sql).map_err(could_not)?;
        match rows.into_iter().find(|(_, _, kind, _)| kind.eq_ignore_ascii_case("error")) {
            Some((table, _, _, why)) => {
                Err(EngineError::failed(NAME, format!("analyze {table}"), why))
            }
            None => Ok(()),
        }
    }

    /// Brings changed pages of the tables to disk
    /// (<https://mariadb.com/kb/en/flush-tables-for-export/>).
    fn flush(&mut self, tables: &str) -> Result<()> {
        let sql = format!("FLUSH TABLES {tables} FOR EXPORT");
        match self.session.conn.query_drop(&sql) {
            Ok(()) => self.session.run("UNLOCK TABLES"),
            // On somebody's server only some users may; there it is not ours to insist.
            Err(Error::MySqlError(e))
                if self.server.is_none() && ACCESS_DENIED.contains(&e.code) =>
            {
                Ok(())
            }
            Err(e) => Err(failed(format!("run `{sql}`"), &e)),
        }
    }
}

impl Lifecycle for MariaDbStore {
    fn settle(&mut self) -> Result<()> {
        if self.in_transaction {
            let why = "a transaction is open, and its snapshot would be waited for";
            return Err(EngineError::failed(NAME, "come to rest", why));
        }
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            // First, because it leaves old versions of its own rows.
            self.analyze(&tables)?;
        }
        if self.server.is_some() {
            // Waits until old versions of changed rows are gone. Where others have open snapshots,
            // as they may on a server that is given, it would have no end.
            self.session.run("SET GLOBAL innodb_max_purge_lag_wait = 0")?;
        }
        if tables.is_empty() { Ok(()) } else { self.flush(&tables) }
    }

    fn reopen(&mut self, after: Ending) -> Result<()> {
        server::by_connection(NAME, after)?;
        if self.in_transaction {
            return Err(EngineError::failed(NAME, "connect again", "a transaction is open"));
        }
        self.prepared.clear();
        self.session.renew()
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// Another connection.
    fn sibling(&mut self) -> Result<Door> {
        let at = self.session.at();
        Ok(Door::new(move || super::client(&at)))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { prepared, mut session, server, .. } = *self;
        drop(prepared);
        let dropped = session.drop_database();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}

impl SqlStore for MariaDbStore {
    fn dialect(&self) -> &'static dyn Dialect {
        &MariaSql
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.session.run(sql).map_err(|e| self.after_error(e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        match self.session.conn.prep(sql) {
            Ok(statement) => {
                self.prepared.push(Prepared { statement, sql: sql.to_owned() });
                Ok(Statement(self.prepared.len() - 1))
            }
            Err(e) => Err(self.after_error(failed(format!("prepare `{sql}`"), &e))),
        }
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        self.stream(statement, params, |_| Ok(()))
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.stream(statement, params, visit).map(|_| ())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        // REPEATABLE READ, the default: one snapshot from the first read on.
        self.session.run(match access {
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION READ WRITE",
        })?;
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.end("COMMIT")
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let alone = !self.in_transaction;
        if alone {
            self.begin(Access::Write)?;
        }
        let Session { conn, largest_packet, .. } = &mut self.session;
        let loaded = load(conn, *largest_packet, table, rows);
        let count = loaded.map_err(|e| self.after_error(e))?;
        if alone {
            self.commit()?;
        }
        Ok(count)
    }

    /// InnoDB keeps rows in the order of the primary key: in that order each goes to the end.
    fn bulk_sorted(&self) -> bool {
        true
    }
}

/// Why a result was not read to its end.
enum Stopped {
    Server(Error),
    Caller(EngineError),
}

impl Stopped {
    /// Whether a statement was undone for the sake of another client's, of which the server says "try
    /// restarting transaction"
    /// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>).
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Server(Error::MySqlError(e)) if CONFLICTS.contains(&e.code))
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Server(error)
    }
}
