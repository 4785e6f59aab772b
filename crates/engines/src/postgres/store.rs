//! The database behind a connection.

use embermark_model::Durability;
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Config, NoTls, Row};

use super::copy::Copy;
use super::row::View;
use super::value::Value;
use super::{NAME, dialect, failed, given, message};
use crate::server::{self, Server, address};
use crate::sql::{Dialect, Param, Rows, SqlStore, Statement, TableDef, Visit};
use crate::{Access, Door, Ending, EngineError, Join, Lifecycle, Result, Store};

/// Bytes of rows from which on preparing a table for a load costs less than it saves.
const LARGE: usize = 1024 * 1024;

/// In place of a schema's name: the whole database is ours.
const WHOLE: &str = "-";

/// A connection, and the schema that goes with it on a server that is not ours.
pub(super) struct Session {
    pub client: Client,
    config: Config,
    schema: Option<String>,
    /// How another process reaches the database, as [`Session::join`] takes it.
    at: String,
    /// What a session begins with, if anything.
    settings: Option<String>,
}

impl Session {
    /// A connection to a server of our own, which another process reaches by `place`.
    pub fn new(client: Client, config: Config, place: String) -> Self {
        let at = format!("{WHOLE} {place}");
        Self { client, config, schema: None, at, settings: None }
    }

    /// A connection to somebody's server, which another process reaches by `place`; the schema is
    /// dropped with it.
    pub fn with_schema(client: Client, config: Config, schema: String, place: String) -> Self {
        let at = format!("{schema} {place}");
        Self { client, config, schema: Some(schema), at, settings: None }
    }

    /// A second connection, to a database that another process has opened.
    ///
    /// # Errors
    /// When the server is not reached, or reports one.
    pub fn join(at: &str, durability: Durability) -> Result<Self> {
        let [schema, place] = address::parts(NAME, at)?;
        let could_not = |e| EngineError::failed(NAME, "join a database", message(&e));
        let mut config: Config = place.parse().map_err(could_not)?;
        config.application_name("embermark");
        let client = config.connect(NoTls).map_err(could_not)?;
        let mut session = Self { client, config, schema: None, at: at.to_owned(), settings: None };
        if schema != WHOLE {
            session.set(given::settings(schema, durability))?;
        }
        Ok(session)
    }

    /// Runs statements now and at the beginning of every new connection.
    ///
    /// # Errors
    /// The server's message.
    pub fn set(&mut self, settings: String) -> Result<()> {
        self.batch(&settings)?;
        self.settings = Some(settings);
        Ok(())
    }

    /// Makes a new connection, then ends the old one, so that a failure leaves one.
    fn renew(&mut self) -> Result<()> {
        let connected = self.config.connect(NoTls);
        let mut client =
            connected.map_err(|e| EngineError::failed(NAME, "connect again", message(&e)))?;
        if let Some(sql) = &self.settings {
            client.batch_execute(sql).map_err(|e| failed(format!("run `{sql}`"), &e))?;
        }
        let old = std::mem::replace(&mut self.client, client);
        old.close().map_err(|e| failed("end its connection", &e))
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).map_err(|e| failed(format!("run `{sql}`"), &e))
    }

    fn drop_schema(&mut self) -> Result<()> {
        match self.schema.take() {
            // A transaction that was left open would take the DROP back; ending none is a warning.
            Some(schema) => {
                self.batch("ROLLBACK")?;
                self.batch(&format!("DROP SCHEMA {schema} CASCADE"))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported before; there is nobody left to tell.
        let _ = self.drop_schema();
    }
}

struct Prepared {
    statement: postgres::Statement,
    sql: String,
}

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
            let _ = self.session.client.batch_execute("ROLLBACK");
        }
        error
    }

    /// Runs a prepared statement, visits its rows, and gives the number the server counted.
    fn stream(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: impl FnMut(&Row) -> Result<()>,
    ) -> Result<u64> {
        let Some(Prepared { statement, sql }) = self.prepared.get(statement.0) else {
            let why = format!("{statement:?} was never prepared");
            return Err(EngineError::failed(NAME, "run a statement", why));
        };
        match stream(&mut self.session.client, statement, params, visit) {
            Ok(count) => Ok(count),
            Err(Stopped::Server(e)) => {
                let error = failed(format!("run `{sql}`"), &e);
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
        let Session { client, .. } = &mut self.session;
        let name = table.name;
        let occupied = format!("SELECT EXISTS (SELECT FROM {name})");
        let occupied = client.query_one(&occupied, &[]).and_then(|row| row.try_get(0));
        if occupied.map_err(|e| failed(format!("look into {name}"), &e))? {
            return rows.send(client, "");
        }
        let key = format!(
            "SELECT format('%I', conname), pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE contype = 'p' AND conrelid = '{name}'::regclass"
        );
        let key = client.query_opt(&key, &[]).and_then(|row| match row {
            Some(row) => Ok(Some((row.try_get(0)?, row.try_get(1)?))),
            None => Ok(None),
        });
        let key: Option<(String, String)> =
            key.map_err(|e| failed(format!("find the key of {name}"), &e))?;
        let (without, with) = match key {
            Some((key, columns)) => (
                format!("; ALTER TABLE {name} DROP CONSTRAINT {key}"),
                format!("ALTER TABLE {name} ADD CONSTRAINT {key} {columns}"),
            ),
            None => (String::new(), String::new()),
        };
        self.session.batch(&format!("TRUNCATE {name}{without}"))?;
        let count = rows.send(&mut self.session.client, ", FREEZE")?;
        self.session.batch(&with)?;
        Ok(count)
    }

    /// The tables of the schema, quoted where SQL needs it.
    fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT format('%I', relname) FROM pg_class \
                   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
        let rows = self.session.client.query(sql, &[]);
        let names = rows.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect());
        names.map_err(|e| failed("list its tables", &e))
    }
}

impl Lifecycle for PostgresStore {
    fn settle(&mut self) -> Result<()> {
        // Named, because without names VACUUM takes every table of the database, ours or not.
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            self.session.batch(&format!("VACUUM (ANALYZE) {tables}"))?;
        }
        match self.session.client.batch_execute("CHECKPOINT") {
            // On somebody's server only an administrator may; there it is not ours to insist.
            Err(e)
                if self.server.is_none() && e.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
            {
                Ok(())
            }
            done => done.map_err(|e| failed("run `CHECKPOINT`", &e)),
        }
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
        Join::At(self.session.at.clone())
    }

    /// Another connection.
    fn sibling(&mut self) -> Result<Door> {
        let (at, durability) = (self.session.at.clone(), self.durability);
        Ok(Door::new(move || {
            let session = Session::join(&at, durability)?;
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
        self.session.batch(sql).map_err(|e| self.after_error(e))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        match self.session.client.prepare(sql) {
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
        self.stream(statement, params, |row| visit(&View(row))).map(|_| ())
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.session.batch(match access {
            // At the default level every statement would have a snapshot of its own.
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "BEGIN",
        })?;
        self.in_transaction = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.in_transaction = false;
        self.session.batch("COMMIT")
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut rows = Copy::new(table, rows);
        if rows.fill(LARGE)? {
            let sent = rows.send(&mut self.session.client, "");
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

/// Why a result was not read to its end.
enum Stopped {
    Server(postgres::Error),
    Visitor(EngineError),
}

impl From<postgres::Error> for Stopped {
    fn from(error: postgres::Error) -> Self {
        Self::Server(error)
    }
}

fn stream(
    client: &mut Client,
    statement: &postgres::Statement,
    params: &[Param<'_>],
    mut visit: impl FnMut(&Row) -> Result<()>,
) -> std::result::Result<u64, Stopped> {
    let mut rows = client.query_raw(statement, params.iter().map(|param| Value(*param)))?;
    while let Some(row) = rows.next()? {
        visit(&row).map_err(Stopped::Visitor)?;
    }
    Ok(rows.rows_affected().unwrap_or(0))
}
