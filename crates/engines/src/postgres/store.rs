//! The database behind a connection.

use embermark_model::Durability;

use super::copy::Copy;
use super::row::View;
use super::session::Session;
use super::statement::{Prepared, Stopped};
use super::{NAME, dialect};
use crate::server::{self, Server};
use crate::sql::{Access, Dialect, Param, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{ClientOpener, EngineError, Join, Lifecycle, Result, Store};

/// Bytes of rows from which on preparing a table for a load costs less than it saves.
const LARGE: usize = 1024 * 1024;

/// SQLSTATE of a statement that the user may not run.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// A database of PostgreSQL. Fields are dropped in order: the connection before its server.
pub(super) struct PostgresStore {
    prepared: Vec<Prepared>,
    session: Session,
    server: Option<Server>,
    dialect: &'static dyn Dialect,
    durability: Durability,
    in_transaction: bool,
}

impl PostgresStore {
    pub fn new(session: Session, server: Option<Server>, durability: Durability) -> Self {
        let dialect = dialect::of(durability);
        Self { prepared: Vec::new(), session, server, dialect, durability, in_transaction: false }
    }

    /// After an error PostgreSQL answers nothing but ROLLBACK until the transaction's end.
    fn after_error(&mut self, error: EngineError) -> EngineError {
        if std::mem::take(&mut self.in_transaction) {
            // The first error is the one to report; a lost connection shows in the next call too.
            let _ = self.session.exec(c"ROLLBACK");
        }
        error
    }

    /// Runs a prepared statement, visits its rows, and gives the number the server counted.
    fn stream(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: impl FnMut(&View<'_>) -> Result<()>,
    ) -> Result<u64> {
        let Some(prepared) = self.prepared.get_mut(statement.0) else {
            let why = format!("{statement:?} was never prepared");
            return Err(EngineError::failed(NAME, "run a statement", why));
        };
        let connection = &mut self.session.connection;
        match prepared.run(connection, !self.in_transaction, params, visit) {
            Ok(count) => Ok(count),
            Err(Stopped::Server(e, _)) => {
                let error = e.while_doing(format!("run `{}`", prepared.sql));
                Err(self.after_error(error))
            }
            // The server did nothing wrong: a transaction goes on.
            Err(Stopped::Visitor(e)) => Err(e),
        }
    }

    /// Fills a table inside the transaction that is open.
    ///
    /// Truncated in the same transaction, a table needs no log under wal_level=minimal, and its
    /// rows can be stored as a VACUUM would leave them; an index is made faster from all rows than
    /// row by row: <https://www.postgresql.org/docs/15/populate.html>, `FREEZE` in
    /// <https://www.postgresql.org/docs/15/sql-copy.html>.
    fn load(&mut self, table: &TableDef, rows: Copy<'_>) -> Result<u64> {
        let Self { session, .. } = self;
        let name = table.name;
        let is_empty = session.batch(&format!("SELECT FROM {name} LIMIT 1"))?.rows() == 0;
        if !is_empty {
            return rows.send(&mut session.connection, "");
        }
        let key = format!(
            "SELECT format('%I', conname), pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE contype = 'p' AND conrelid = '{name}'::regclass"
        );
        let (without, with) = match &session.batch(&key)?.texts()[..] {
            [row] if let [Some(key), Some(columns)] = &row[..] => (
                format!("; ALTER TABLE {name} DROP CONSTRAINT {key}"),
                format!("ALTER TABLE {name} ADD CONSTRAINT {key} {columns}"),
            ),
            _ => (String::new(), String::new()),
        };
        session.batch(&format!("TRUNCATE {name}{without}"))?;
        let count = rows.send(&mut session.connection, ", FREEZE")?;
        session.batch(&with)?;
        Ok(count)
    }

    /// The tables of the schema, quoted where SQL needs it.
    fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT format('%I', relname) FROM pg_class \
                   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
        let names = self.session.batch(sql)?.texts();
        Ok(names.into_iter().flatten().flatten().collect())
    }
}

impl Lifecycle for PostgresStore {
    fn maintain(&mut self) -> Result<()> {
        // Named, because without names VACUUM takes every table of the database, ours or not.
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            self.session.batch(&format!("VACUUM (ANALYZE) {tables}"))?;
        }
        match self.session.connection.exec(c"CHECKPOINT") {
            // On somebody's server only an administrator may; there it is not ours to insist.
            Err(e)
                if self.server.is_none() && e.state.as_deref() == Some(INSUFFICIENT_PRIVILEGE) =>
            {
                Ok(())
            }
            Err(e) => Err(e.while_doing("run `CHECKPOINT`")),
            Ok(_) => Ok(()),
        }
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
        Join::At(self.session.at().to_owned())
    }

    /// Another connection.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (at, durability) = (self.session.at().to_owned(), self.durability);
        let library = self.session.connection.library();
        Ok(ClientOpener::new(move || {
            let session = Session::join(library, &at, durability)?;
            Ok(Store::Sql(Box::new(Self::new(session, None, durability))))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { prepared, mut session, server, .. } = *self;
        drop(prepared);
        let dropped = session.drop_schema();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}

impl SqlStore for PostgresStore {
    fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.session.batch(sql).map(drop).map_err(|e| self.after_error(e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        let number = self.prepared.len();
        match Prepared::new(&mut self.session.connection, number, sql) {
            Ok(prepared) => {
                self.prepared.push(prepared);
                Ok(Statement(number))
            }
            Err(e) => Err(self.after_error(e.while_doing(format!("prepare `{sql}`")))),
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
        self.stream(statement, params, |row| visit(row)).map(|_| ())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.session.exec(match access {
            // At the default level every statement would have a snapshot of its own.
            Access::Read => c"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => c"BEGIN",
        })?;
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_transaction = false;
        self.session.exec(c"COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        match std::mem::take(&mut self.in_transaction) {
            true => self.session.exec(c"ROLLBACK"),
            false => Ok(()),
        }
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut rows = Copy::new(table, rows);
        if rows.fill(LARGE).map_err(|e| self.after_error(e))? {
            let sent = rows.send(&mut self.session.connection, "");
            return sent.map_err(|e| self.after_error(e));
        }
        let alone = !self.in_transaction;
        if alone {
            self.begin(Access::Write)?;
        }
        let count = self.load(table, rows).map_err(|e| self.after_error(e))?;
        if alone {
            self.commit()?;
        }
        Ok(count)
    }
}
