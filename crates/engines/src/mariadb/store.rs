//! The database behind a connection.

use std::mem;

use super::dialect::MariaSql;
use super::load::load;
use super::session::Session;
use super::statement::{Prepared, Stopped};
use super::{NAME, failed};
use crate::clients::again_if;
use crate::server::{self, Server};
use crate::sql::{Access, Dialect, Param, ResultRow, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{ClientOpener, EngineError, Join, Lifecycle, Result};

/// A user of a server that is given may lack the right to a statement
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>): to a database, a table, or at all.
const ACCESS_DENIED: [u32; 3] = [1044, 1142, 1227];

/// A deadlock, a lock that was waited for in vain, and a record that another transaction has
/// changed meanwhile.
const CONFLICTS: [u32; 3] = [1213, 1205, 1020];

/// A database of MariaDB. Fields are dropped in order: statements before their connection, that
/// before its server.
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
        let Some(prepared) = self.prepared.get_mut(statement.0) else {
            let why = format!("{statement:?} was never prepared");
            return Err(EngineError::failed(NAME, "run a statement", why));
        };
        let alone = !self.in_transaction;
        let run = || prepared.run(params, &mut visit);
        match again_if(|stopped| alone && is_conflict(stopped), run) {
            Ok(changed) => Ok(changed),
            Err(Stopped::Server(e)) => {
                let error = failed(format!("run `{}`", prepared.sql()), &e);
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
        let rows: std::result::Result<Vec<[String; 1]>, _> = self.session.connection.rows(sql);
        let rows = rows.map_err(|e| failed("list its tables", &e))?;
        Ok(rows.iter().map(|[name]| format!("`{}`", name.replace('`', "``"))).collect())
    }

    /// Fresh statistics, of every column as well, for the planner
    /// (<https://mariadb.com/kb/en/engine-independent-table-statistics/>).
    fn analyze(&mut self, tables: &str) -> Result<()> {
        let sql = format!("ANALYZE TABLE {tables} PERSISTENT FOR ALL");
        let rows = self.session.connection.rows(&sql);
        let rows = rows.map_err(|e| failed(format!("run `{sql}`"), &e))?;
        // Table, what was done, kind of message, message: an error is a row, too.
        match rows.iter().find(|[_, _, kind, _]| kind.eq_ignore_ascii_case("error")) {
            Some([table, _, _, why]) => {
                Err(EngineError::failed(NAME, format!("analyze {table}"), why))
            }
            None => Ok(()),
        }
    }

    /// Brings changed pages of the tables to disk
    /// (<https://mariadb.com/kb/en/flush-tables-for-export/>).
    fn flush(&mut self, tables: &str) -> Result<()> {
        let sql = format!("FLUSH TABLES {tables} FOR EXPORT");
        match self.session.connection.run(&sql) {
            Ok(()) => self.session.run("UNLOCK TABLES"),
            // On somebody's server only some users may; there it is not ours to insist.
            Err(e) if self.server.is_none() && ACCESS_DENIED.contains(&e.code) => Ok(()),
            Err(e) => Err(failed(format!("run `{sql}`"), &e)),
        }
    }
}

impl Lifecycle for MariaDbStore {
    fn maintain(&mut self) -> Result<()> {
        if self.in_transaction {
            let why = "a transaction is open, and its snapshot would be waited for";
            return Err(EngineError::failed(NAME, "finish its maintenance", why));
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

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.prepared.clear();
        self.in_transaction = false;
        Some(self.session.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// Another connection.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let at = self.session.at();
        Ok(ClientOpener::new(move || super::client(&at)))
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
        match Prepared::new(&self.session.connection, sql) {
            Ok(prepared) => {
                self.prepared.push(prepared);
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

    fn roll_back(&mut self) -> Result<()> {
        if self.in_transaction { self.end("ROLLBACK") } else { Ok(()) }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let alone = !self.in_transaction;
        if alone {
            self.begin(Access::Write)?;
        }
        let Session { connection, largest_packet, .. } = &self.session;
        let loaded = load(connection, *largest_packet, table, rows);
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

/// Whether a statement was undone for the sake of another client's, of which the server says "try
/// restarting transaction"
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>).
fn is_conflict(stopped: &Stopped) -> bool {
    matches!(stopped, Stopped::Server(failure) if CONFLICTS.contains(&failure.code))
}
