//! A database of MariaDB behind a connection.

use std::rc::Rc;

use super::connection::Connection;
use super::dialect::{COLLATION, INDEXED, MariaSql};
use super::failure::Failure;
use super::library::{Connector, LIBRARY};
use super::load::{load, load_file};
use super::statement::Prepared;
use super::target::Target;
use super::tier::TIERS;
use super::{NAME, check, failed, reader};
use crate::server::address::{self, Address};
use crate::server::{self, Server};
use crate::sql::{Access, CsvFile, Dialect, Param, Rows, TableDef, Visit};
use crate::sql_driver::{Connected, Driver, Stopped};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Limits, Result,
    Store,
};

/// A user of a server that is given may lack the right to a statement
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>): to a database, a table, or at all.
const ACCESS_DENIED: [u32; 3] = [1044, 1142, 1227];

/// What a session does not leave to the server's defaults: strict, so that nothing is ever cut to
/// fit, exact comparisons, times in UTC; and means of integers, which are decimals, with the digits of a
/// double (<https://mariadb.com/kb/en/server-system-variables/#div_precision_increment>).
const MODE: &str = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// A connection, and what goes with it. What was prepared on it keeps it, too. Fields are dropped in
/// order: the connection before its server.
pub(super) struct Session {
    pub connection: Rc<Connection>,
    /// Runs the queries of a workload file, where there were any.
    reader: Option<Rc<Connection>>,
    pub server: Option<Server>,
    /// The largest packet that the server takes, in bytes.
    pub largest_packet: usize,
    target: Target,
    database: String,
    /// Where another process reaches the server.
    elsewhere: Address,
    /// Whether the server is not ours, and the database still there.
    given: bool,
}

impl Session {
    /// Connects, to no database yet that would be used.
    pub fn connect(
        library: &'static Connector,
        target: Target,
        elsewhere: Address,
    ) -> std::result::Result<Self, Failure> {
        let connection = Rc::new(Connection::open(library, &target)?);
        let (reader, server, database) = (None, None, String::new());
        let (largest_packet, given) = (0, false);
        Ok(Self { connection, reader, server, largest_packet, target, database, elsewhere, given })
    }

    /// The store of a further client of a database, reached as its [`join`](Driver::join) says.
    pub fn join(at: &str) -> Result<Store> {
        let [database, address] = address::parts(NAME, at)?;
        let could_not = |why: String| EngineError::failed(NAME, "join a database", why);
        let address = Address::from(address);
        let target = match &address {
            Address::Socket(path) => Target::socket(path),
            Address::Url(url) => Target::of_url(url).map_err(could_not)?,
        };
        let session = Self::connect(LIBRARY.get()?, target, address);
        let session = session.map_err(|failure| could_not(failure.to_string()))?;
        session.enter(database).map(Self::into_store)
    }

    pub fn into_store(self) -> Store {
        Store::Sql(Connected::new(self))
    }

    /// Creates a database and makes it the current one. On a server that is `given` it must not be
    /// there, and is dropped with the session.
    pub fn create(mut self, database: &str, given: bool) -> Result<Self> {
        let unless_there = if given { "" } else { "IF NOT EXISTS " };
        self.send(&format!(
            "CREATE DATABASE {unless_there}{database} CHARACTER SET utf8mb4 COLLATE {COLLATION}"
        ))?;
        self.given = given;
        self.enter(database)
    }

    /// Ends the connections that a killed client has left in a database, which may still hold locks,
    /// and drops it if it is there.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn remove(&self, database: &str) -> Result<()> {
        let sql = format!("SELECT id FROM information_schema.processlist WHERE db = '{database}'");
        let doing = || format!("run `{sql}`");
        let left: Vec<[String; 1]> = self.connection.rows(&sql).map_err(|e| failed(doing(), &e))?;
        for [id] in left {
            // It may have ended meanwhile.
            let _ = self.send(&format!("KILL {id}"));
        }
        self.send("SET lock_wait_timeout = 30")?;
        self.send(&format!("DROP DATABASE IF EXISTS {database}"))?;
        self.send("SET lock_wait_timeout = DEFAULT")
    }

    /// Makes a database that another process has created the current one. It stays.
    pub fn enter(mut self, database: &str) -> Result<Self> {
        database.clone_into(&mut self.database);
        self.send(&format!("USE {database}"))?;
        self.set()?;
        let doing = "read `max_allowed_packet`";
        let rows = self.connection.rows("SELECT @@max_allowed_packet");
        let rows: Vec<[String; 1]> = rows.map_err(|e| failed(doing, &e))?;
        let packet = rows.first().and_then(|[bytes]| bytes.parse().ok());
        self.largest_packet =
            packet.ok_or_else(|| EngineError::failed(NAME, doing, "it is no number"))?;
        Ok(self)
    }

    /// Makes a new connection to the database, then lets go of the old one, so that a failure
    /// leaves one.
    fn renew(&mut self) -> Result<()> {
        let connection = Connection::open(self.connection.library, &self.target());
        self.connection = Rc::new(connection.map_err(|e| failed("connect again", &e))?);
        self.reader = None;
        self.set()
    }

    fn set(&self) -> Result<()> {
        self.send(&Self::settings())
    }

    /// What each of its connections begins with.
    pub fn settings() -> String {
        format!(
            "SET NAMES utf8mb4 COLLATE {COLLATION}, sql_mode = '{MODE}', time_zone = '+00:00', \
             autocommit = 1, tx_isolation = 'REPEATABLE-READ', div_precision_increment = 15"
        )
    }

    /// How a connection to its database is made.
    pub fn target(&self) -> Target {
        Target { database: Some(self.database.clone()), ..self.target.clone() }
    }

    /// Runs statements and drops what they return.
    pub fn send(&self, sql: &str) -> Result<()> {
        self.connection.run(sql).map_err(|e| failed(format!("run `{sql}`"), &e))
    }

    /// Drops the database that was created on somebody's server, if there is one.
    fn drop_database(&mut self) -> Result<()> {
        if std::mem::take(&mut self.given) {
            self.send("ROLLBACK")?;
            self.send(&format!("DROP DATABASE {}", self.database))
        } else {
            Ok(())
        }
    }

    /// The tables of the database, quoted.
    pub fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT table_name FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'";
        let rows: std::result::Result<Vec<[String; 1]>, _> = self.connection.rows(sql);
        let rows = rows.map_err(|e| failed("list its tables", &e))?;
        Ok(rows.iter().map(|[name]| format!("`{}`", name.replace('`', "``"))).collect())
    }

    /// Fresh statistics for the planner: InnoDB's own
    /// (<https://mariadb.com/kb/en/innodb-persistent-statistics/>), which it keeps in tables of its own.
    /// Those of every column (`PERSISTENT FOR ALL`) go to tables of Aria that are not transactional, and
    /// after a power cut none of ours could be read for one of them that was too short.
    fn analyze(&mut self, tables: &str) -> Result<()> {
        let sql = format!("ANALYZE TABLE {tables}");
        let rows = self.connection.rows(&sql);
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
        match self.connection.run(&sql) {
            Ok(()) => self.send("UNLOCK TABLES"),
            // On somebody's server only some users may; there it is not ours to insist.
            Err(e) if self.server.is_none() && ACCESS_DENIED.contains(&e.code) => Ok(()),
            Err(e) => Err(failed(format!("run `{sql}`"), &e)),
        }
    }
}

impl Driver for Session {
    type Prepared = Prepared;

    fn name(&self) -> &'static str {
        NAME
    }

    /// InnoDB keeps rows in the order of the primary key: in that order each goes to the end.
    fn bulk_sorted(&self) -> bool {
        true
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &MariaSql
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.send(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared> {
        let prepared = Prepared::new(&self.connection, sql);
        prepared.map_err(|e| failed(format!("prepare `{sql}`"), &e))
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Prepared> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => Rc::new(reader::connect(self)?),
        };
        let prepared = reader::prepare(&reader, sql);
        self.reader = Some(reader);
        prepared
    }

    fn run(
        &mut self,
        statement: &mut Prepared,
        params: &[Param<'_>],
        visit: Option<&mut Visit<'_>>,
    ) -> std::result::Result<u64, Stopped> {
        statement.run(params, visit)
    }

    fn run_each(&mut self, statement: &mut Prepared, params: &mut dyn Rows) -> Result<u64> {
        statement.run_each(self.largest_packet, params)
    }

    fn pipelines(&self) -> bool {
        true
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        // REPEATABLE READ, the default: one snapshot from the first read on.
        self.batch(match access {
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION READ WRITE",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) -> Result<()> {
        self.batch("ROLLBACK")
    }

    fn load(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        load(&self.connection, self.largest_packet, table, rows)
    }

    /// Of a server of our own, which runs as this user: it reads the file itself, and no connection of
    /// ours has to be one that sends files.
    fn loads_csv(&self) -> bool {
        self.server.is_some()
    }

    fn load_csv(&mut self, table: &TableDef, file: &CsvFile<'_>) -> Result<u64> {
        load_file(&self.connection, table, file)
    }

    fn maintain(&mut self) -> Result<()> {
        let tables = self.tables()?.join(", ");
        if !tables.is_empty() {
            // First, because it leaves old versions of its own rows.
            self.analyze(&tables)?;
        }
        if self.server.is_some() {
            // Waits until old versions of changed rows are gone. Where others have open snapshots,
            // as they may on a server that is given, it would have no end.
            self.send("SET GLOBAL innodb_max_purge_lag_wait = 0")?;
        }
        if tables.is_empty() { Ok(()) } else { self.flush(&tables) }
    }

    /// Of a server of our own, where the counter is on; elsewhere it is off as shipped
    /// (<https://mariadb.com/kb/en/information-schema-innodb_metrics-table/>).
    fn checkpoints(&mut self) -> Result<Option<u64>> {
        if self.server.is_none() {
            return Ok(None);
        }
        let sql =
            "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'log_checkpoints'";
        let rows: std::result::Result<Vec<[String; 1]>, _> = self.connection.rows(sql);
        let rows = rows.map_err(|e| failed("count its checkpoints", &e))?;
        Ok(rows.first().and_then(|[count]| count.parse().ok()))
    }

    /// Of a server of our own: as [`checkpoints`](Driver::checkpoints).
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        let Some(checkpoints) = self.checkpoints()? else { return Ok(()) };
        let sql = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
                   WHERE VARIABLE_NAME IN ('INNODB_BUFFER_POOL_PAGES_FLUSHED', 'INNODB_LOG_WAITS')";
        let rows: std::result::Result<Vec<[String; 2]>, _> = self.connection.rows(sql);
        let rows = rows.map_err(|e| failed("read its status", &e))?;
        let value = |name: &str| {
            let row = rows.iter().find(|[of, _]| of.eq_ignore_ascii_case(name));
            row.and_then(|[_, value]| value.parse().ok()).unwrap_or(0)
        };
        into.push(Background::count("checkpoints", checkpoints));
        let flushed = value("Innodb_buffer_pool_pages_flushed");
        into.push(Background::count("pages flushed", flushed));
        into.push(Background::count("waits for room in the log", value("Innodb_log_waits")));
        Ok(())
    }

    fn limits(&self) -> Limits {
        Limits {
            columns: Some(1_017),
            indexes: Some(64),
            key_columns: Some(32),
            // Half a page of 16 KiB, without what a page and a row have of their own.
            row_bytes: Some(8_100),
            key_text: Some(INDEXED),
            index_text: Some(INDEXED),
            in_characters: true,
            manual: "https://mariadb.com/kb/en/innodb-limitations/",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let names: Vec<&str> = TIERS.power.read_back.iter().map(|(name, _)| *name).collect();
        let names = names.join("', '");
        let sql = format!("SHOW VARIABLES WHERE Variable_name IN ('{names}')");
        let rows: Vec<[String; 2]> =
            self.connection.rows(&sql).map_err(|e| failed("read its settings back", &e))?;
        Ok(rows.into_iter().map(<[String; 2]>::into).collect())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let database = ("database", self.database.clone());
        Ok(vec![self.elsewhere.parameter(), database, ("settings", Self::settings())])
    }

    fn join(&self) -> Join {
        Join::At(format!("{} {}", self.database, self.elsewhere))
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let at = format!("{} {}", self.database, self.elsewhere);
        Ok(ClientOpener::new(move || Self::join(&at)))
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
        let (dropped, server) = (self.drop_database(), self.server.take());
        drop(self);
        server.map_or(Ok(()), Server::stop).and(dropped)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported before; there is nobody left to tell.
        let _ = self.drop_database();
    }
}
