//! The connection that runs the queries of a workload file. Its user can only read the tables. It
//! is separate from the workload's connection, whose settings a query could change (`SELECT
//! set_config('synchronous_commit', 'off', false)`).

use super::NAME;
use super::connection::Connection;
use super::session::Session;
use super::statement::Prepared;
use crate::server;
use crate::sql_driver::refused;
use crate::{EngineError, Result};

/// User of a private server that reads its tables.
const READER: &str = "embermark_reader";

/// Makes every statement of the connection a transaction that only reads.
const READ_ONLY: &str = "SET default_transaction_read_only = on";

/// Whether the user of a URL can reach files or programs on the server's machine
/// (<https://www.postgresql.org/docs/current/predefined-roles.html>).
const REACHES_FILES: &str = "\
    SELECT (rolsuper OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname IN ('pg_read_server_files', \
    'pg_write_server_files', 'pg_execute_server_program') AND pg_has_role(current_user, r.oid, 'MEMBER')))::text \
    FROM pg_roles WHERE rolname = current_user";

/// Lets the reader of a private server read the existing tables. On a given server, checks that the
/// user cannot do more than a query of a workload file may.
pub(super) fn allow(session: &mut Session) -> Result<()> {
    if session.is_given() {
        let reaches = session.connection.run(REACHES_FILES).ok().and_then(|found| found.first());
        let reaches = reaches.map(|reaches| reaches != "false");
        return server::check_user(NAME, reaches, "that is no superuser");
    }
    let sql = user(&session.place);
    session.connection.run(&sql).map(drop).map_err(|e| e.while_doing("make a user that only reads"))
}

/// Connects as the reader, or as the same user on a given server.
pub(super) fn connect(session: &Session) -> Result<Connection> {
    let mut place = session.place.clone();
    if !session.is_given() {
        // Later options override earlier ones.
        place.push_str(" user=");
        place.push_str(READER);
    }
    let mut reader = Connection::open(session.connection.library, &place)
        .map_err(|e| EngineError::failed(NAME, "connect as a user that only reads", e))?;
    for sql in session.settings.as_deref().into_iter().chain([READ_ONLY]) {
        reader.run(sql).map_err(|e| e.while_doing(format!("run `{sql}`")))?;
    }
    Ok(reader)
}

/// Returns the statements that create a missing reader and let it read the tables. One client at a
/// time.
fn user(place: &str) -> String {
    let password = place.split_once("password=").map_or("''", |(_, password)| password);
    format!(
        "SELECT pg_advisory_xact_lock(1); DO $$ BEGIN \
         IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{READER}') \
         THEN CREATE ROLE {READER} LOGIN PASSWORD {password}; END IF; END $$; \
         REVOKE CREATE ON SCHEMA public FROM PUBLIC; \
         GRANT USAGE ON SCHEMA public TO {READER}; \
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}"
    )
}

/// Prepares a query. The server's parser accepts one statement, and in EXISTS only a query that
/// changes nothing.
pub(super) fn prepare(reader: &mut Connection, number: usize, sql: &str) -> Result<Prepared> {
    reader
        .prepare(c"embermark_parsed", &format!("SELECT EXISTS (\n{sql}\n)"))
        .map_err(|e| refused(NAME, sql, e.message))?;
    reader.run("DEALLOCATE embermark_parsed").map_err(|e| e.while_doing("forget a statement"))?;
    let prepared = Prepared::new(reader, number, sql);
    let mut prepared = prepared.map_err(|e| e.while_doing(format!("prepare `{sql}`")))?;
    prepared.is_untrusted = true;
    Ok(prepared)
}
