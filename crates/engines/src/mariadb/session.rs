//! A MariaDB database behind a connection.

use std::rc::Rc;

use super::connection::Connection;
use super::dialect::COLLATION;
use super::failure::Failure;
use super::library::{Connector, LIBRARY};
use super::target::Target;
use super::{NAME, failed};
use crate::server::Server;
use crate::server::address::{self, Address};
use crate::sql_driver::Connected;
use crate::{EngineError, OpenOptions, Result, Store};

/// Error codes when a user of a given server lacks a privilege
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>): for a database, for a table, or in
/// general.
const ACCESS_DENIED: [u32; 3] = [1044, 1142, 1227];

/// Settings that a session does not leave to the server's defaults: strict mode, so that no value
/// is truncated; exact comparisons; times in UTC; and means of integers, which are decimals, with a
/// double's digits (<https://mariadb.com/kb/en/server-system-variables/#div_precision_increment>).
const MODE: &str = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// A connection and its state. Statements prepared on it hold it too. The fields are dropped in
/// order: the connection before its server.
pub(super) struct Session {
    pub connection: Rc<Connection>,
    /// Runs the queries of a workload file, if it has any.
    pub reader: Option<Rc<Connection>>,
    pub server: Option<Server>,
    /// Largest packet that the server accepts, in bytes.
    pub largest_packet: usize,
    pub target: Target,
    pub database: String,
    /// The server's address for another process.
    pub for_others: Address,
    /// Whether the server is a given one, and the database still exists.
    pub given: bool,
}

impl Session {
    /// Connects without selecting a database.
    pub fn connect(
        library: &'static Connector,
        target: Target,
        for_others: Address,
    ) -> std::result::Result<Self, Failure> {
        let connection = Rc::new(Connection::open(library, &target)?);
        let (reader, server, database) = (None, None, String::new());
        let (largest_packet, given) = (0, false);
        Ok(Self { connection, reader, server, largest_packet, target, database, for_others, given })
    }

    /// Connects to a given server, and creates a database that is dropped at the end. Nothing else
    /// on the server is touched.
    ///
    /// # Errors
    /// Fails when the URL is invalid, the server cannot be reached, or the user may not create
    /// databases.
    pub fn given(url: &str, options: &OpenOptions) -> Result<Self> {
        let session = Self::reach(url)?;
        session.remove(&options.guest)?;
        session.create(&options.guest, true)
    }

    /// Connects to a given server without selecting a database.
    pub fn reach(url: &str) -> Result<Self> {
        let library = LIBRARY.get()?;
        let target = Target::of_url(url).map_err(|why| {
            let wanted = "give it as mysql://user:password@host:port/database";
            EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
        })?;
        let doing = format!("connect to {}", target.place);
        Self::connect(library, target, Address::Url(url.to_owned())).map_err(|failure| {
            let advice = "is it running, and does it let this user in without TLS?";
            EngineError::failed(NAME, doing, format!("{failure}; {advice}"))
        })
    }

    /// Opens a session of a further client of a database, whose address is from
    /// [`join`](crate::sql_driver::Driver::join).
    pub fn join(at: &str) -> Result<Self> {
        let [database, address] = address::parts(NAME, at)?;
        let could_not = |why: String| EngineError::failed(NAME, "join a database", why);
        let address = Address::from(address);
        let target = Target::of(&address).map_err(could_not)?;
        let session = Self::connect(LIBRARY.get()?, target, address);
        let session = session.map_err(|failure| could_not(failure.to_string()))?;
        session.enter(database)
    }

    /// Returns the address of the database for another process, as [`Session::join`] takes it.
    pub fn at(&self) -> String {
        format!("{} {}", self.database, self.for_others)
    }

    pub fn into_store(self) -> Store {
        Store::Sql(Connected::new(self))
    }

    /// Creates a database and selects it. On a `given` server it must not exist, and is dropped
    /// with the session.
    pub fn create(mut self, database: &str, given: bool) -> Result<Self> {
        let unless_there = if given { "" } else { "IF NOT EXISTS " };
        self.send(&format!(
            "CREATE DATABASE {unless_there}{database} CHARACTER SET utf8mb4 COLLATE {COLLATION}"
        ))?;
        self.given = given;
        self.enter(database)
    }

    /// Ends the connections that a killed client has left in a database, which can still hold
    /// locks, and drops the database if it exists.
    pub fn remove(&self, database: &str) -> Result<()> {
        let sql = format!("SELECT id FROM information_schema.processlist WHERE db = '{database}'");
        for [id] in self.rows(&format!("run `{sql}`"), &sql)? {
            // It can have ended meanwhile.
            let _ = self.send(&format!("KILL {id}"));
        }
        self.send("SET lock_wait_timeout = 30")?;
        self.send(&format!("DROP DATABASE IF EXISTS {database}"))?;
        self.send("SET lock_wait_timeout = DEFAULT")
    }

    /// Selects a database that another process has created, without dropping it at the end.
    pub fn enter(mut self, database: &str) -> Result<Self> {
        database.clone_into(&mut self.database);
        self.send(&format!("USE {database}"))?;
        self.send(&Self::settings())?;
        let doing = "read `max_allowed_packet`";
        let rows = self.rows(doing, "SELECT @@max_allowed_packet")?;
        let packet = rows.first().and_then(|[bytes]| bytes.parse().ok());
        self.largest_packet =
            packet.ok_or_else(|| EngineError::failed(NAME, doing, "it is not a number"))?;
        Ok(self)
    }

    /// Makes a new connection to the database, then closes the old one, so that a failure leaves
    /// the old one.
    pub(super) fn renew(&mut self) -> Result<()> {
        let connection = Connection::open(self.connection.library, &self.target());
        self.connection = Rc::new(connection.map_err(|e| failed("connect again", &e))?);
        self.reader = None;
        self.send(&Self::settings())
    }

    /// Returns the statement that each of its connections begins with.
    pub fn settings() -> String {
        format!(
            "SET NAMES utf8mb4 COLLATE {COLLATION}, sql_mode = '{MODE}', time_zone = '+00:00', \
             autocommit = 1, tx_isolation = 'REPEATABLE-READ', div_precision_increment = 15"
        )
    }

    /// Returns how to connect to its database.
    pub fn target(&self) -> Target {
        Target { database: Some(self.database.clone()), ..self.target.clone() }
    }

    /// Runs statements and drops their results.
    pub fn send(&self, sql: &str) -> Result<()> {
        self.connection.run(sql).map_err(|e| failed(format!("run `{sql}`"), &e))
    }

    /// Runs one statement. Returns its rows as texts. Errors say what it was `doing`.
    pub fn rows<const N: usize>(&self, doing: &str, sql: &str) -> Result<Vec<[String; N]>> {
        self.connection.rows(sql).map_err(|e| failed(doing, &e))
    }

    /// Drops the database on a given server, if there is one.
    pub(super) fn drop_database(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.given) {
            return Ok(());
        }
        self.send("ROLLBACK")?;
        self.send(&format!("DROP DATABASE {}", self.database))
    }

    /// Returns the quoted tables of the database.
    pub fn tables(&mut self) -> Result<Vec<String>> {
        let sql = "SELECT table_name FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'";
        let rows = self.rows("list its tables", sql)?;
        Ok(rows.iter().map(|[name]| format!("`{}`", name.replace('`', "``"))).collect())
    }

    /// Updates the planner's statistics: InnoDB's own
    /// (<https://mariadb.com/kb/en/innodb-persistent-statistics/>), which it stores in its own
    /// tables. Those of every column (`PERSISTENT FOR ALL`) are in Aria tables that are not
    /// transactional. After a power cut one of these was too short, and no table of the database
    /// could be read.
    pub(super) fn analyze(&mut self, tables: &str) -> Result<()> {
        let sql = format!("ANALYZE TABLE {tables}");
        // Table, operation, kind of message, message. An error is a row too.
        for [table, _, kind, why] in self.rows(&format!("run `{sql}`"), &sql)? {
            if kind.eq_ignore_ascii_case("error") {
                return Err(EngineError::failed(NAME, format!("analyze {table}"), why));
            }
        }
        Ok(())
    }

    /// Writes changed pages of the tables to disk
    /// (<https://mariadb.com/kb/en/flush-tables-for-export/>).
    pub(super) fn flush(&mut self, tables: &str) -> Result<()> {
        let sql = format!("FLUSH TABLES {tables} FOR EXPORT");
        match self.connection.run(&sql) {
            Ok(()) => self.send("UNLOCK TABLES"),
            // On a given server only some users may do this, so it is not required there.
            Err(e) if self.server.is_none() && ACCESS_DENIED.contains(&e.code) => Ok(()),
            Err(e) => Err(failed(format!("run `{sql}`"), &e)),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported earlier, and this one cannot be
        // reported.
        let _ = self.drop_database();
    }
}
