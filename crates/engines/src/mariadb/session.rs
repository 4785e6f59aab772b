//! A connection, and the database that goes with it on a server that is not ours.

use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder};

use super::dialect::COLLATION;
use super::failed;
use crate::Result;
use crate::server::address::Address;

/// What a session does not leave to the server's defaults: strict, so that nothing is ever cut to
/// fit, exact comparisons, times in UTC.
const MODE: &str = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// A connection.
pub(super) struct Session {
    pub conn: Conn,
    /// The largest packet that the server takes, in bytes.
    pub largest_packet: usize,
    options: OptsBuilder,
    database: String,
    /// Where another process reaches the server.
    elsewhere: Address,
    /// Whether the server is not ours, and the database still there.
    given: bool,
}

/// What every connection of ours asks for: an update counts the rows it found, also those that
/// held the value already; no statement is closed behind our back; the server is the one named,
/// not one that has its socket in the same place.
pub(super) fn options(options: OptsBuilder) -> OptsBuilder {
    options
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .stmt_cache_size(0)
        .prefer_socket(false)
}

impl Session {
    /// Creates a database and makes it the current one of a connection made by `options`; on a
    /// server that is `given` it is dropped with the session.
    ///
    /// # Errors
    /// When the server reports one, such as that the user may create no database.
    pub fn create(
        conn: Conn,
        options: &OptsBuilder,
        database: &str,
        elsewhere: Address,
        given: bool,
    ) -> Result<Self> {
        let mut session = Self::on(conn, options, database, elsewhere)?;
        session.run(&format!(
            "CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE {COLLATION}"
        ))?;
        session.given = given;
        session.enter()?;
        Ok(session)
    }

    /// Makes a database that another process has created the current one of a connection made by
    /// `options`. It stays.
    ///
    /// # Errors
    /// When the server reports one, such as that there is no such database.
    pub fn join(
        conn: Conn,
        options: &OptsBuilder,
        database: &str,
        elsewhere: Address,
    ) -> Result<Self> {
        let mut session = Self::on(conn, options, database, elsewhere)?;
        session.enter()?;
        Ok(session)
    }

    fn on(
        mut conn: Conn,
        options: &OptsBuilder,
        database: &str,
        elsewhere: Address,
    ) -> Result<Self> {
        let packet = conn.query_first("SELECT CAST(@@max_allowed_packet AS UNSIGNED)");
        let packet = packet.map_err(|e| failed("read `max_allowed_packet`", &e))?;
        Ok(Self {
            conn,
            largest_packet: packet.unwrap_or_default(),
            options: options.clone(),
            database: database.to_owned(),
            elsewhere,
            given: false,
        })
    }

    fn enter(&mut self) -> Result<()> {
        self.run(&format!("USE {}", self.database))?;
        self.set()
    }

    /// How another process reaches the database.
    pub fn at(&self) -> String {
        format!("{} {}", self.database, self.elsewhere)
    }

    /// Makes a new connection to the database, then ends the old one, so that a failure leaves one.
    ///
    /// # Errors
    /// When the server is not reached, or reports one.
    pub fn renew(&mut self) -> Result<()> {
        let options = self.options.clone().db_name(Some(&self.database));
        let conn = Conn::new(options).map_err(|e| failed("connect again", &e))?;
        drop(std::mem::replace(&mut self.conn, conn));
        self.set()
    }

    fn set(&mut self) -> Result<()> {
        self.run(&format!(
            "SET NAMES utf8mb4 COLLATE {COLLATION}, sql_mode = '{MODE}', time_zone = '+00:00', \
             autocommit = 1, tx_isolation = 'REPEATABLE-READ'"
        ))
    }

    /// Runs statements and drops what they return.
    ///
    /// # Errors
    /// The server's message, with the statements.
    pub fn run(&mut self, sql: &str) -> Result<()> {
        run(&mut self.conn, sql).map_err(|e| failed(format!("run `{sql}`"), &e))
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

/// Runs statements to the end of the last one's result. (The driver's own way drops the error of
/// any but the first.)
fn run(conn: &mut Conn, sql: &str) -> std::result::Result<(), Error> {
    let mut result = conn.query_iter(sql)?;
    while let Some(rows) = result.iter() {
        for row in rows {
            row?;
        }
    }
    Ok(())
}
