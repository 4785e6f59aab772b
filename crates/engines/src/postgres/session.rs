//! A PostgreSQL database behind a connection: the whole database of a private server, or a schema
//! of its own on a given server.

use std::ffi::CStr;
use std::mem;

use embermark_model::Durability;

use super::answer::Answer;
use super::connection::Connection;
use super::extension::{Extension, LACKS};
use super::features::{Feature, Features, key_of};
use super::library::library_for;
use super::tier::TIERS;
use super::{NAME, dialect};
use crate::server::{Server, address};
use crate::sql::{Dialect, Rows, TableDef};
use crate::sql_driver::{Connected, Driver};
use crate::{EngineError, Result, Store};

mod driver;

/// Used instead of a schema's name when the whole database is ours.
pub(super) const WHOLE: &str = "-";

/// Classes of SQLSTATEs of a statement that a server does not accept: an unsupported feature; a
/// syntax error, an unknown name or a missing privilege
/// (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
const NOT_TAKEN: [&str; 2] = ["0A", "42"];

/// A connection and its state. The fields are dropped in order: the connection before its server.
pub(super) struct Session {
    pub connection: Connection,
    /// Runs the queries of a workload file, if it has any.
    reader: Option<Connection>,
    pub server: Option<Server>,
    pub durability: Durability,
    pub features: Features,
    dialect: &'static dyn Dialect,
    /// The schema on a given server, or [`WHOLE`].
    pub schema: String,
    /// Whether the schema is dropped at the end.
    pub drops_schema: bool,
    /// The server's address.
    pub place: String,
    /// Statements that every connection begins with.
    pub settings: Option<String>,
    /// The number of statements so far. Their names contain it.
    statements: usize,
}

impl Session {
    /// Makes a session of a connection to a server at `place`, in a schema or in the [`WHOLE`]
    /// database.
    pub fn new(connection: Connection, schema: &str, place: &str, durability: Durability) -> Self {
        Self {
            connection,
            reader: None,
            server: None,
            durability,
            features: Features::ALL,
            dialect: dialect::for_tier(durability, Features::ALL),
            drops_schema: false,
            schema: schema.to_owned(),
            place: place.to_owned(),
            settings: None,
            statements: 0,
        }
    }

    /// Returns the address of the database for another process, as [`Session::join`] takes it.
    fn at(&self) -> String {
        format!("{} {} {}", self.schema, self.features.to_text(), self.place)
    }

    /// Sets the features of a server that may lack some.
    pub fn with_features(mut self, features: Features) -> Self {
        (self.features, self.dialect) = (features, dialect::for_tier(self.durability, features));
        self
    }

    /// Makes new tables with a time in their key hypertables, on a server with TimescaleDB. A second
    /// connection makes no tables.
    pub fn with_hypertables(mut self, extension: Extension) -> Self {
        self.features = self.features.without(&LACKS);
        self.dialect = dialect::with_hypertables(self.features, extension);
        self
    }

    /// Opens a second connection to a database that another process has opened.
    pub fn join(at: &str, durability: Durability) -> Result<Self> {
        let [schema, features, place] = address::parts(NAME, at)?;
        let features = Features::parse(features).unwrap_or(Features::ALL);
        let connection = Connection::open(library_for(place)?, place)
            .map_err(|e| EngineError::failed(NAME, "join a database", e))?;
        let mut session = Self::new(connection, schema, place, durability).with_features(features);
        if session.is_given() {
            session.set(settings(schema, durability, features))?;
        }
        Ok(session)
    }

    pub fn into_store(self) -> Store {
        Store::Sql(Connected::new(self))
    }

    /// Returns whether the server is a given one, which can be another one with PostgreSQL's
    /// protocol.
    pub fn is_given(&self) -> bool {
        self.schema != WHOLE
    }

    /// Runs statements now and at the start of every new connection.
    pub fn set(&mut self, settings: String) -> Result<()> {
        self.ask(&settings)?;
        self.settings = Some(settings);
        Ok(())
    }

    /// Makes a new connection, then ends the old one, so that a failure leaves the old one.
    fn renew(&mut self) -> Result<()> {
        let mut connection = Connection::open(self.connection.library, &self.place)
            .map_err(|e| EngineError::failed(NAME, "connect again", e))?;
        if let Some(sql) = &self.settings {
            connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))?;
        }
        drop(mem::replace(&mut self.connection, connection));
        self.reader = None;
        Ok(())
    }

    /// Runs statements without parameters. Returns the result of the last one as text.
    pub fn ask(&mut self, sql: &str) -> Result<Answer> {
        self.connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))
    }

    /// Runs statements like [`ask`](Self::ask). Returns `None` if a given server refuses them.
    pub fn ask_if_known(&mut self, sql: &str) -> Result<Option<Answer>> {
        match self.ask(sql) {
            Err(_) if self.is_given() => Ok(None),
            asked => asked.map(Some),
        }
    }

    /// Runs a statement given as a C string, like [`ask`](Self::ask).
    pub fn exec(&mut self, sql: &CStr) -> Result<()> {
        let done = self.connection.exec(sql).map(drop);
        done.map_err(|e| e.while_doing(format!("run `{}`", sql.to_string_lossy())))
    }

    /// Drops the schema on a given server, if there is one.
    fn drop_schema(&mut self) -> Result<()> {
        if !mem::take(&mut self.drops_schema) {
            return Ok(());
        }
        self.reader = None;
        // A transaction left open would undo the DROP. Without one, ROLLBACK is only a warning.
        self.exec(c"ROLLBACK")?;
        self.ask(&format!("DROP SCHEMA {} CASCADE", self.schema)).map(drop)
    }

    /// Fills a table inside the transaction that is open.
    ///
    /// A table truncated in the same transaction needs no log under wal_level=minimal, and its rows can
    /// be stored as a VACUUM would leave them (`FREEZE` in
    /// <https://www.postgresql.org/docs/18/sql-copy.html>). An index is built faster from all rows than
    /// row by row (<https://www.postgresql.org/docs/18/populate.html>). `send` copies the rows, with
    /// further options.
    fn fill(
        &mut self,
        table: &TableDef,
        send: impl FnOnce(&mut Connection, &str) -> Result<u64>,
    ) -> Result<u64> {
        let name = table.name;
        if !self.features.has(Feature::Fill) {
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

    /// Returns the tables of the schema, quoted where SQL needs it.
    pub fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT format('%I', relname) FROM pg_class \
                   WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
        // The list of the SQL standard, for servers without pg_class. The names need no quotes.
        let standard = "SELECT table_name FROM information_schema.tables \
                        WHERE table_schema = current_schema";
        let found = match self.ask_if_known(sql)? {
            Some(found) => found,
            None => self.ask(standard)?,
        };
        Ok(found.values().collect())
    }

    /// Counts the checkpoints that the clock or the log's size started and those that a statement
    /// requested, and the pages that they wrote. They have a view of their own since version 17
    /// (<https://www.postgresql.org/docs/current/monitoring-stats.html>). Returns `None` if a given
    /// server refuses.
    fn checkpoint_counts(&mut self) -> Result<Option<[u64; 2]>> {
        let (columns, view) = match self.connection.server_version() {
            ..170_000 => ("checkpoints_timed + checkpoints_req, buffers_checkpoint", "bgwriter"),
            _ => ("num_timed + num_requested, buffers_written", "checkpointer"),
        };
        let found = self.ask_if_known(&format!("SELECT {columns} FROM pg_stat_{view}"))?;
        let Some(found) = found else { return Ok(None) };
        let counts: Vec<u64> = found.values().filter_map(|count| count.parse().ok()).collect();
        Ok(counts.try_into().ok())
    }

    /// Runs a statement. Returns `false` if a given server does not accept it, which is not an error
    /// there.
    fn is_taken(&mut self, sql: &str) -> Result<bool> {
        match self.connection.run(sql) {
            Ok(_) => Ok(true),
            Err(e) if self.is_given() && e.is_of(&NOT_TAKEN) => Ok(false),
            Err(e) => Err(e.while_doing(format!("run `{sql}`"))),
        }
    }

    /// Stores rows one by one with a prepared statement, inside the open transaction, on servers
    /// without binary COPY.
    fn insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        let sql = self.dialect.insert_rows(table.name, &table.column_names(), 1);
        let mut statement = Driver::prepare(self, &sql)?;
        self.run_each(&mut statement, rows)
    }
}

/// Returns the statements that a session in a schema begins with. The server's list of clients has
/// it by its name.
pub(super) fn settings(schema: &str, durability: Durability, features: Features) -> String {
    let mut all = vec![format!("SET search_path = {schema}")];
    if features.has(Feature::Sessions) {
        all.push(format!("SET application_name = '{schema}'"));
    }
    if features.has(Feature::CommitLevel) {
        let waits = if TIERS.for_tier(durability).set { "off" } else { "on" };
        all.push(format!("SET synchronous_commit = {waits}"));
    }
    if features.has(Feature::TimeZone) {
        all.push("SET timezone = 'UTC'".to_owned());
    }
    if !features.has(Feature::Snapshot) && features.has(Feature::SessionSnapshot) {
        let level = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        all.push(level.to_owned());
    }
    all.join("; ")
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported earlier, and this one cannot be
        // reported.
        let _ = self.drop_schema();
    }
}
