//! A connection, and the database that goes with it on a server that is not ours.

use std::rc::Rc;

use super::connection::Connection;
use super::dialect::COLLATION;
use super::failure::Failure;
use super::library::Connector;
use super::target::Target;
use super::{NAME, failed};
use crate::server::address::Address;
use crate::{EngineError, Result};

/// What a session does not leave to the server's defaults: strict, so that nothing is ever cut to
/// fit, exact comparisons, times in UTC.
const MODE: &str = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// A connection. What was prepared on it keeps it, too.
pub(super) struct Session {
    pub connection: Rc<Connection>,
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
    ///
    /// # Errors
    /// When the server is not reached, or does not let the user in.
    pub fn connect(
        library: &'static Connector,
        target: Target,
        elsewhere: Address,
    ) -> std::result::Result<Self, Failure> {
        let connection = Rc::new(Connection::open(library, &target)?);
        let database = String::new();
        Ok(Self { connection, largest_packet: 0, target, database, elsewhere, given: false })
    }

    /// Creates a database and makes it the current one; on a server that is `given` it is dropped
    /// with the session.
    ///
    /// # Errors
    /// When the server reports one, such as that the user may create no database.
    pub fn create(mut self, database: &str, given: bool) -> Result<Self> {
        self.run(&format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE {COLLATION}"))?;
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
            let _ = self.run(&format!("KILL {id}"));
        }
        self.run("SET lock_wait_timeout = 30")?;
        self.run(&format!("DROP DATABASE IF EXISTS {database}"))?;
        self.run("SET lock_wait_timeout = DEFAULT")
    }

    /// Makes a database that another process has created the current one. It stays.
    ///
    /// # Errors
    /// When the server reports one, such as that there is no such database.
    pub fn enter(mut self, database: &str) -> Result<Self> {
        database.clone_into(&mut self.database);
        self.run(&format!("USE {database}"))?;
        self.set()?;
        let doing = "read `max_allowed_packet`";
        let rows = self.connection.rows("SELECT @@max_allowed_packet");
        let rows: Vec<[String; 1]> = rows.map_err(|e| failed(doing, &e))?;
        let packet = rows.first().and_then(|[bytes]| bytes.parse().ok());
        self.largest_packet =
            packet.ok_or_else(|| EngineError::failed(NAME, doing, "it is no number"))?;
        Ok(self)
    }

    /// How another process reaches the database.
    pub fn at(&self) -> String {
        format!("{} {}", self.database, self.elsewhere)
    }

    /// Makes a new connection to the database, then lets go of the old one, so that a failure
    /// leaves one.
    ///
    /// # Errors
    /// When the server is not reached, or reports one.
    pub fn renew(&mut self) -> Result<()> {
        let target = Target { database: Some(self.database.clone()), ..self.target.clone() };
        let connection = Connection::open(self.connection.library, &target);
        self.connection = Rc::new(connection.map_err(|e| failed("connect again", &e))?);
        self.set()
    }

    fn set(&self) -> Result<()> {
        self.run(&format!(
            "SET NAMES utf8mb4 COLLATE {COLLATION}, sql_mode = '{MODE}', time_zone = '+00:00', \
             autocommit = 1, tx_isolation = 'REPEATABLE-READ'"
        ))
    }

    /// Runs statements and drops what they return.
    ///
    /// # Errors
    /// The server's message, with the statements.
    pub fn run(&self, sql: &str) -> Result<()> {
        self.connection.run(sql).map_err(|e| failed(format!("run `{sql}`"), &e))
    }

    /// Drops the database that was created on somebody's server, if there is one.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn drop_database(&mut self) -> Result<()> {
        if std::mem::take(&mut self.given) {
            self.run("ROLLBACK")?;
            self.run(&format!("DROP DATABASE {}", self.database))
        } else {
            Ok(())
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported before; there is nobody left to tell.
        let _ = self.drop_database();
    }
}
