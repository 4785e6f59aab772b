//! A database of PostgreSQL behind a connection: all of a private server's, or a schema of its own on
//! a server that is given.

use std::ffi::CStr;
use std::fs::File;
use std::mem;

use embermark_model::Durability;

use super::answer::Answer;
use super::connection::Connection;
use super::copy::{Copy, send_file, unread};
use super::library::{Libpq, library_for};
use super::offers::{Offer, Offers};
use super::statement::Prepared;
use super::timescaledb::Extension;
use super::{NAME, check, dialect, external, reader, settings, timescaledb};
use crate::server::{self, Server, address};
use crate::sql::{Access, CsvFile, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped, one_by_one};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result,
    Store,
};

/// In place of a schema's name: the whole database is ours.
pub(super) const WHOLE: &str = "-";

/// Bytes of rows from which on preparing a table for a load costs less than it saves.
const LARGE: usize = 1024 * 1024;

/// Classes of SQLSTATEs of a statement that a server does not take: it has no such thing; it does not know its
/// words, nothing has that name, or the user may not run it
/// (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
const NOT_TAKEN: [&str; 2] = ["0A", "42"];

/// A connection, and what goes with it. Fields are dropped in order: the connection before its server.
pub(super) struct Session {
    pub connection: Connection,
    /// Runs the queries of a workload file, where there were any.
    reader: Option<Connection>,
    pub server: Option<Server>,
    pub durability: Durability,
    /// What the server has.
    pub offers: Offers,
    dialect: &'static dyn Dialect,
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
        let at = at(schema.as_deref().unwrap_or(WHOLE), Offers::ALL, place);
        let (server, settings, statements) = (None, None, 0);
        let (offers, dialect) = (Offers::ALL, dialect::of(durability, Offers::ALL));
        let reader = None;
        Self {
            connection,
            reader,
            server,
            durability,
            offers,
            dialect,
            schema,
            at,
            settings,
            statements,
        }
    }

    /// Its schema, or [`WHOLE`], and how the server is reached.
    pub fn place(&self) -> Result<(&str, &str)> {
        let [schema, _, place] = address::parts(NAME, &self.at)?;
        Ok((schema, place))
    }

    /// What each of its connections begins with.
    pub fn settings(&self) -> Option<&str> {
        self.settings.as_deref()
    }

    /// The same of a server that may lack something.
    ///
    /// # Errors
    /// Never, with what [`Session::new`] made.
    pub fn offering(mut self, offers: Offers) -> Result<Self> {
        let [schema, _, place] = address::parts(NAME, &self.at)?;
        self.at = at(schema, offers, place);
        (self.offers, self.dialect) = (offers, dialect::of(self.durability, offers));
        Ok(self)
    }

    /// The same of a server with TimescaleDB, of which new tables with a time in their key become hypertables. A second
    /// connection makes no tables.
    ///
    /// # Errors
    /// Never, with what [`Session::new`] made.
    pub fn with_hypertables(self, extension: Extension) -> Result<Self> {
        let offers = self.offers.without(&timescaledb::LACKS);
        let mut session = self.offering(offers)?;
        session.dialect = dialect::with_hypertables(offers, extension);
        Ok(session)
    }

    /// The store of a second connection, to a database that another process has opened.
    pub fn join(library: &'static Libpq, at: &str, durability: Durability) -> Result<Store> {
        let [schema, offers, place] = address::parts(NAME, at)?;
        let offers = Offers::parse(offers).unwrap_or(Offers::ALL);
        let connection = Connection::open(library, place)
            .map_err(|e| EngineError::failed(NAME, "join a database", e))?;
        let mut session = Self::new(connection, None, place, durability).offering(offers)?;
        at.clone_into(&mut session.at);
        if schema != WHOLE {
            session.set(external::settings(schema, durability, offers))?;
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
        let (_, place) = self.place()?;
        let mut connection = Connection::open(self.connection.library(), place)
            .map_err(|e| EngineError::failed(NAME, "connect again", e))?;
        if let Some(sql) = &self.settings {
            connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))?;
        }
        drop(mem::replace(&mut self.connection, connection));
        self.reader = None;
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
        self.reader = None;
        // A transaction that was left open would take the DROP back; ending none is a warning.
        self.exec(c"ROLLBACK")?;
        self.ask(&format!("DROP SCHEMA {schema} CASCADE")).map(drop)
    }

    /// Fills a table inside the transaction that is open.
    ///
    /// Truncated in the same transaction, a table needs no log under wal_level=minimal, and its
    /// rows can be stored as a VACUUM would leave them; an index is made faster from all rows than
    /// row by row: <https://www.postgresql.org/docs/18/populate.html>, `FREEZE` in
    /// <https://www.postgresql.org/docs/18/sql-copy.html>. `send` does that, with further options.
    fn fill(
        &mut self,
        table: &TableDef,
        send: impl FnOnce(&mut Connection, &str) -> Result<u64>,
    ) -> Result<u64> {
        let name = table.name;
        if !self.offers.has(Offer::Fill) {
            return send(&mut self.connection, "");
        }
        let is_empty = self.ask(&format!("SELECT FROM {name} LIMIT 1"))?.rows() == 0;
        if !is_empty {
            return send(&mut self.connection, "");
        }
        let (without, with) = match &self.ask(&key_of(name))?.texts()[..] {
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
        // The standard's own list, where that is not known: ours need no quotes.
        let standard = "SELECT table_name FROM information_schema.tables \
                        WHERE table_schema = current_schema";
        let found = match self.connection.run(sql) {
            Err(_) if self.server.is_none() => self.ask(standard)?,
            found => found.map_err(|e| e.while_doing(format!("run `{sql}`")))?,
        };
        Ok(found.texts().into_iter().flatten().flatten().collect())
    }

    /// Runs a statement; `false` where a server that is given does not take it: there it is not ours to
    /// insist.
    fn is_taken(&mut self, sql: &str) -> Result<bool> {
        match self.connection.run(sql) {
            Ok(_) => Ok(true),
            Err(e) if self.server.is_none() && e.state.as_deref().is_some_and(is_not_taken) => {
                Ok(false)
            }
            Err(e) => Err(e.while_doing(format!("run `{sql}`"))),
        }
    }

    /// Stores rows by a prepared statement, one each, inside the transaction that is open: where there
    /// is no binary COPY.
    fn insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let names: Vec<&str> = table.columns.iter().map(|(name, ..)| *name).collect();
        let places: Vec<String> = (1..=names.len()).map(|n| self.dialect.placeholder(n)).collect();
        let (names, places) = (names.join(", "), places.join(", "));
        let sql = format!("INSERT INTO {} ({names}) VALUES ({places})", table.name);
        let mut statement = Driver::prepare(self, &sql)?;
        self.run_each(&mut statement, rows)
    }
}

fn is_not_taken(state: &str) -> bool {
    NOT_TAKEN.iter().any(|class| state.starts_with(class))
}

/// How another process reaches a database.
fn at(schema: &str, offers: Offers, place: &str) -> String {
    format!("{schema} {} {place}", offers.to_text())
}

/// A query of the name and the columns of a table's key.
pub(super) fn key_of(table: &str) -> String {
    format!(
        "SELECT format('%I', conname), pg_get_constraintdef(oid) FROM pg_constraint \
         WHERE contype = 'p' AND conrelid = '{table}'::regclass"
    )
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    fn dialect(&self) -> &'static dyn Dialect {
        self.dialect
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.ask(sql).map(drop)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        self.statements += 1;
        let prepared = Prepared::new(&mut self.connection, self.statements, sql);
        prepared.map_err(|e| e.while_doing(format!("prepare `{sql}`")))
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        self.statements += 1;
        reader::allow(self)?;
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => reader::connect(self)?,
        };
        let prepared = reader::prepare(&mut reader, self.statements, sql);
        self.reader = Some(reader);
        prepared
    }

    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        let connection = match (&mut self.reader, statement.is_untrusted) {
            (Some(reader), true) => reader,
            _ => &mut self.connection,
        };
        statement.run(connection, params, visit)
    }

    fn run_each(&mut self, statement: &mut Prepared, params: &mut dyn Rows) -> Result<u64> {
        match self.pipelines() {
            true => statement.run_each(&mut self.connection, params),
            false => one_by_one(self, statement, params),
        }
    }

    fn pipelines(&self) -> bool {
        self.offers.has(Offer::Pipeline) && self.connection.library().pipelines.is_some()
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exec(match access {
            // At the default level every statement would have a snapshot of its own.
            Access::Read if self.offers.has(Offer::Snapshot) => {
                c"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            }
            Access::Read if !self.offers.has(Offer::SessionSnapshot) => {
                let what = "a transaction that reads one state, on this server";
                return Err(EngineError::unsupported(NAME, what));
            }
            _ => c"BEGIN",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.exec(c"COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.exec(c"ROLLBACK")
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        if !self.offers.has(Offer::Copy) {
            return self.insert(table, rows);
        }
        let mut rows = Copy::new(table, rows);
        match rows.fill(LARGE)? {
            true => rows.send(&mut self.connection, ""),
            false => self.fill(table, |connection, options| rows.send(connection, options)),
        }
    }

    /// Of few rows one COPY, which is a transaction by itself.
    fn load_alone(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        if !self.offers.has(Offer::Copy) {
            self.begin(Access::Write)?;
            let count = self.insert(table, rows)?;
            return self.commit().map(|()| count);
        }
        let mut rows = Copy::new(table, rows);
        if rows.fill(LARGE)? {
            return rows.send(&mut self.connection, "");
        }
        self.begin(Access::Write)?;
        let count = self.fill(table, |connection, options| rows.send(connection, options))?;
        self.commit().map(|()| count)
    }

    fn loads_csv(&self) -> bool {
        self.offers.has(Offer::CopyCsv)
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
        let tables = self.tables()?;
        if !tables.is_empty()
            && !self.is_taken(&format!("VACUUM (ANALYZE) {}", tables.join(", ")))?
        {
            for table in tables {
                self.is_taken(&format!("ANALYZE {table}"))?;
            }
        }
        self.is_taken("CHECKPOINT").map(drop)
    }

    /// Those that the clock or the log's size asked for, and those that a statement did
    /// (<https://www.postgresql.org/docs/current/monitoring-stats.html>): of a view of their own since
    /// version 17.
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        let found = self.connection.run(match self.connection.server_version() {
            ..170_000 => "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
            _ => "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
        });
        let found = match found {
            Ok(found) => found,
            Err(_) if self.server.is_none() => return Ok(None),
            Err(error) => return Err(error.while_doing("count its checkpoints")),
        };
        let count = found.texts().into_iter().flatten().next().flatten();
        Ok(count.and_then(|count| count.parse().ok()))
    }

    /// By the server's statistics and its list of processes: nothing on a server that does not tell.
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        let written = match self.connection.server_version() {
            ..170_000 => {
                "SELECT checkpoints_timed + checkpoints_req, buffers_checkpoint FROM pg_stat_bgwriter"
            }
            _ => "SELECT num_timed + num_requested, buffers_written FROM pg_stat_checkpointer",
        };
        let vacuums =
            "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'";
        let mut numbers: Vec<u64> = Vec::with_capacity(3);
        for sql in [written, vacuums] {
            match self.connection.run(sql) {
                Ok(found) => {
                    let row = found.texts().into_iter().flatten().flatten();
                    numbers.extend(row.filter_map(|number| number.parse::<u64>().ok()));
                }
                Err(_) if self.server.is_none() => return Ok(()),
                Err(error) => return Err(error.while_doing(format!("run `{sql}`"))),
            }
        }
        if let [checkpoints, pages, vacuums] = numbers[..] {
            into.push(Background::count("checkpoints", checkpoints));
            into.push(Background::count("pages written by checkpoints", pages));
            into.push(Background::state("autovacuum workers", vacuums));
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            columns: Some(1_600),
            key_columns: Some(32),
            // A page of 8 KiB, without what a page and a row have of their own.
            row_bytes: Some(8_136),
            manual: "https://www.postgresql.org/docs/current/limits.html",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(self)
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let (_, place) = self.place()?;
        let settings = self.settings.clone().unwrap_or_default();
        Ok(vec![("conninfo", place.to_owned()), ("settings", settings)])
    }

    fn join(&self) -> Join {
        Join::At(self.at.clone())
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let (at, durability) = (self.at.clone(), self.durability);
        Ok(ClientOpener::new(move || Self::join(library_for(&at)?, &at, durability)))
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
