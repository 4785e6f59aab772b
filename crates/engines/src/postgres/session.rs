//! A connection, and the schema that goes with it on a server that is not ours.

use std::ffi::CStr;
use std::mem;

use embermark_model::Durability;

use super::answer::Answer;
use super::connection::Connection;
use super::library::Libpq;
use super::{NAME, external};
use crate::server::address;
use crate::{EngineError, Result};

/// In place of a schema's name: the whole database is ours.
const WHOLE: &str = "-";

/// A connection, and the schema that goes with it on a server that is not ours.
pub(super) struct Session {
    pub connection: Connection,
    schema: Option<String>,
    /// How another process reaches the database, as [`Session::join`] takes it.
    at: String,
    /// What a session begins with, if anything.
    settings: Option<String>,
}

impl Session {
    /// A connection to a server of our own, which is at `place`.
    pub fn new(connection: Connection, place: &str) -> Self {
        let at = format!("{WHOLE} {place}");
        Self { connection, schema: None, at, settings: None }
    }

    /// A connection to somebody's server, which is at `place`; the schema is dropped with it.
    pub fn with_schema(connection: Connection, schema: String, place: &str) -> Self {
        let at = format!("{schema} {place}");
        Self { connection, schema: Some(schema), at, settings: None }
    }

    /// A second connection, to a database that another process has opened.
    ///
    /// # Errors
    /// When the server is not reached, or reports one.
    pub fn join(library: &'static Libpq, at: &str, durability: Durability) -> Result<Self> {
        let [schema, place] = address::parts(NAME, at)?;
        let connection = Connection::open(library, place)
            .map_err(|e| EngineError::failed(NAME, "join a database", e))?;
        let mut session = Self { connection, schema: None, at: at.to_owned(), settings: None };
        if schema != WHOLE {
            session.set(external::settings(schema, durability))?;
        }
        Ok(session)
    }

    /// How another process reaches the database.
    pub fn at(&self) -> &str {
        &self.at
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
    ///
    /// # Errors
    /// When the server is not reached, or reports one.
    pub fn renew(&mut self) -> Result<()> {
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
    ///
    /// # Errors
    /// The server's message, with the statements.
    pub fn batch(&mut self, sql: &str) -> Result<Answer> {
        self.connection.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))
    }

    /// As [`batch`](Self::batch), of a text in C's form.
    ///
    /// # Errors
    /// The server's message, with the statement.
    pub fn exec(&mut self, sql: &CStr) -> Result<()> {
        match self.connection.exec(sql) {
            Ok(_) => Ok(()),
            Err(e) => Err(e.while_doing(format!("run `{}`", sql.to_string_lossy()))),
        }
    }

    /// Drops the schema that was made on somebody's server, if there is one.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn drop_schema(&mut self) -> Result<()> {
        match self.schema.take() {
            // A transaction that was left open would take the DROP back; ending none is a warning.
            Some(schema) => {
                self.exec(c"ROLLBACK")?;
                self.batch(&format!("DROP SCHEMA {schema} CASCADE")).map(drop)
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
