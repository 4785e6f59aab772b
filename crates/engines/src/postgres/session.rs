//! A database of PostgreSQL behind a connection: all of a private server's, or a schema of its own on
//! a server that is given.

use std::ffi::CStr;
use std::fs::File;
use std::mem;

use embermark_model::Durability;

use super::answer::Answer;
use super::connection::Connection;
use super::copy::{Copy, send_file, unread};
use super::library::{LIBRARY, Libpq};
use super::statement::Prepared;
use super::{NAME, check, dialect, external};
use crate::server::{self, Server, address};
use crate::sql::{Access, CsvFile, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{Checked, ClientOpener, EngineError, Join, Result, Store};

/// In place of a schema's name: the whole database is ours.
const WHOLE: &str = "-";

/// Bytes of rows from which on preparing a table for a load costs less than it saves.
const LARGE: usize = 1024 * 1024;

/// SQLSTATE of a statement that the user may not run.
const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// A connection, and what goes with it. Fields are dropped in order: the connection before its server.
pub(super) struct Session {
    pub connection: Connection,
    pub server: Option<Server>,
    pub durability: Durability,
    /// On somebody's server, which it is dropped from at the end.
    schema: Option<String>,
    /// How another process reaches the database, as [`Session::join`] takes it.
    at: String,
    /// What a session begins with, if anything.
    settings: Option<String>,
    /// How many statements there have been, by which they are named.
    statements: usize,
}

impl Session {
    /// A connection to a server at `place`. A schema is dropped with it; without one the whole database
    /// is ours.
    pub fn new(
        connection: Connection,
        schema: Option<String>,
        place: &str,
        durability: Durability,
    ) -> Self {
        let at = format!("{} {place}", schema.as_deref().unwrap_or(WHOLE));
        let (server, settings, statements) = (None, None, 0);
        Self { connection, server, durability, schema, at, settings, statements }
    }

    /// The store of a second connection, to a database that another process has opened.
    pub fn join(library: &'static Libpq, at: &str, durability: Durability) -> Result<Store> {
        let [schema, place] = address::parts(NAME, at)?;
        let connection = Connection::open(library, place)
            .map_err(|e| EngineError::failed(NAME, "join a database", e))?;
        let mut session = Self::new(connection, None, place, durability);
        at.clone_into(&mut session.at);
        if schema != WHOLE {
            session.set(external::settings(schema, durability))?;
        }
        Ok(session.into_store())
    }

    pub fn into_store(self) -> Store {
        Store::Sql(Connected::new(self))
    }

    /// Runs statements now and at the beginning of every new connection.
    pub fn set(&mut self, settings: String) -> Result<()> {
        self.ask(&settings)?;
        self.settings = Some(settings);
        Ok(())
    }

    /// Makes a new connection, then ends the old one, so that a failure leaves one.
    fn renew(&mut self) -> Result<()> {
        let [_, place] = address::parts(NAME, &self.at)?;
        let mut connection = Connection::open(self.connection.library(), place)
            .map_err(|e| EngineError::failed(NAME, "connect again", e))?;
        if let Some(sql) = &self.settings {
            connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))?;
        }
        drop(mem::replace(&mut self.connection, connection));
        Ok(())
    }

    /// Runs statements without parameters; what the last one gave, as text.
    pub fn ask(&mut self, sql: &str) -> Result<Answer> {
        self.connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))
    }

    /// As [`ask`](Self::ask), of a text in C's form.
    pub fn exec(&mut self, sql: &CStr) -> Result<()> {
        let done = self.connection.exec(sql).map(drop);
        done.map_err(|e| e.while_doing(format!("run `{}`", sql.to_string_lossy())))
    }

    /// Drops the schema that was made on somebody's server, if there is one.
    fn drop_schema(&mut self) -> Result<()> {
        let Some(schema) = self.schema.take() else { return Ok(()) };
        // A transaction that was left open would take the DROP back; ending none is a warning.
        self.exec(c"ROLLBACK")?;
        self.ask(&format!("DROP SCHEMA {schema} CASCADE")).map(drop)
    }

    /// Fills a table inside the transaction that is open.
    ///
    /// Truncated in the same transaction, a table needs no log under wal_level=minimal, and its
    /// rows can be stored as a VACUUM would leave them; an index is made faster from all rows than
    /// row by row: <https://www.postgresql.org/docs/15/populate.html>, `FREEZE` in
    /// <https://www.postgresql.org/docs/15/sql-copy.html>. `send` does that, with further options.
    fn fill(
        &mut self,
        table: &TableDef,
        send: impl FnOnce(&mut Connection, &str) -> Result<u64>,
    ) -> Result<u64> {
        let name = table.name;
        let is_empty = self.ask(&format!("SELECT FROM {name} LIMIT 1"))?.rows() == 0;
        if !is_empty {
            return send(&mut self.connection, "");
        }
        let key = format!(
            "SELECT format('%I', conname), pg_get_constraintdef(oid) FROM pg_constraint \
             WHERE contype = 'p' AND conrelid = '{name}'::regclass"
        );
        let (without, with) = match &self.ask(&key)?.texts()[..] {
            [row] if let [Some(key), Some(columns)] = &row[..] => (
                format!("; ALTER TABLE {name} DROP CONSTRAINT {key}"),
                format!("ALTER TABLE {name} ADD CONSTRAINT {key} {columns}"),
            ),
            _ => (String::new(), String::new()),
        };
        self.ask(&format!("TRUNCATE {name}{without}"))?;
        let count = send(&mut self.connection, ", FREEZE")?;
        self.ask(&with)?;
        Ok(count)
    }

    /// The tables of the schema, quoted where SQL needs it.
    pub fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT format('%I', relname) FROM pg_class \
                   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
        Ok(self.ask(sql)?.texts().into_iter().flatten().flatten().collect())
    }
}

impl Driver for Session {
    const NAME: &'static str = NAME;

    type Prepared = Prepared;

    fn dialect(&self) -> &'static dyn Dialect {
        dialect::of(self.durability)
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.ask(sql).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.statements += 1;
        let prepared = Prepared::new(&mut self.connection, self.statements, sql);
        prepared.map_err(|e| e.while_doing(format!("prepare `{sql}`")))
    }

    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        statement.run(&mut self.connection, params, visit)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exec(match access {
            // At the default level every statement would have a snapshot of its own.
            Access::Read => c"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => c"BEGIN",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.exec(c"COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.exec(c"ROLLBACK")
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut rows = Copy::new(table, rows);
        match rows.fill(LARGE)? {
            true => rows.send(&mut self.connection, ""),
            false => self.fill(table, |connection, options| rows.send(connection, options)),
        }
    }

    /// Of few rows one COPY, which is a transaction by itself.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let mut rows = Copy::new(table, rows);
        if rows.fill(LARGE)? {
            return rows.send(&mut self.connection, "");
        }
        self.begin(Access::Write)?;
        let count = self.fill(table, |connection, options| rows.send(connection, options))?;
        self.commit().map(|()| count)
    }

    fn loads_csv(&self) -> bool {
        true
    }

    /// As rows are: a file of few by one COPY.
    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        let mut open = File::open(file.path).map_err(|e| unread(file, e))?;
        let size = open.metadata().map_err(|e| unread(file, e))?.len();
        let mut send = |connection: &mut Connection, options: &str| {
            send_file(table, (file, &mut open), connection, options)
        };
        if size < LARGE as u64 {
            return send(&mut self.connection, "");
        }
        self.begin(Access::Write)?;
        let count = self.fill(table, send)?;
        self.commit().map(|()| count)
    }

    fn maintain(&mut self) -> Result<()> {
        // Named, because without names VACUUM takes every table of the database, ours or not.
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            self.ask(&format!("VACUUM (ANALYZE) {tables}"))?;
        }
        match self.connection.exec(c"CHECKPOINT") {
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

    /// Those that the clock or the log's size asked for, and those that a statement did
    /// (<https://www.postgresql.org/docs/current/monitoring-stats.html>): of a view of their own since
    /// version 17.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        let found = self.ask(match self.connection.server_version() {
            ..170_000 => "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
            _ => "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
        })?;
        let count = found.texts().into_iter().flatten().next().flatten();
        Ok(count.and_then(|count| count.parse().ok()))
    }

    fn join(&self) -> Join {
        Join::At(self.at.clone())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (at, durability) = (self.at.clone(), self.durability);
        Ok(ClientOpener::new(move || Self::join(LIBRARY.get()?, &at, durability)))
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        Some(self.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn check(&mut self) -> Result<Checked> {
        check::tables(self)
    }

    fn close(mut self) -> Result<()> {
        let (dropped, server) = (self.drop_schema(), self.server.take());
        drop(self);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported before; there is nobody left to tell.
        let _ = self.drop_schema();
    }
}
