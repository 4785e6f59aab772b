//! The connection that runs the queries of a workload file. Its user can only read the tables, and
//! its transactions only read. It is separate from the workload's connection, whose settings a
//! query could change.

use std::rc::Rc;

use super::NAME;
use super::connection::Connection;
use super::handle::Handle;
use super::managed::DATABASE;
use super::session::Session;
use super::statement::Prepared;
use super::target::Target;
use crate::sql_driver::refused;
use crate::{EngineError, Result};

/// User of a private server that reads its tables. It lacks the FILE privilege, without which
/// LOAD_FILE returns NULL and INTO OUTFILE is refused (<https://mariadb.com/kb/en/grant/#file>).
const READER: &str = "embermark_reader";

/// Whether the user of a URL can reach files on the server's machine, directly or through a role.
const REACHES_FILES: &str = "\
    SELECT COUNT(*) FROM information_schema.user_privileges WHERE privilege_type = 'FILE' \
    AND (grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''') OR EXISTS (SELECT 1 \
    FROM information_schema.enabled_roles WHERE grantee LIKE CONCAT('''', role_name, '''%')))";

/// Connects to the session's database.
pub(super) fn connect(session: &Session) -> Result<Connection> {
    let target = session.target();
    let target = match target.database.as_deref() == Some(DATABASE) {
        true => user(session, target)?,
        false => check_user(session).map(|()| target)?,
    };
    let could_not = |failure: &dyn std::fmt::Display| {
        EngineError::failed(NAME, "connect as a user that only reads", failure)
    };
    let reader =
        Connection::open(session.connection.library, &target).map_err(|e| could_not(&e))?;
    reader.run(&Session::settings()).map_err(|e| could_not(&e))?;
    reader.run("SET SESSION TRANSACTION READ ONLY").map_err(|e| could_not(&e))?;
    Ok(reader)
}

/// Creates the reader of a private server, if it is missing.
fn user(session: &Session, target: Target) -> Result<Target> {
    // A private server's password only has hexadecimal digits.
    let password = target.password.as_deref().unwrap_or_default();
    for host in ["localhost", "127.0.0.1"] {
        let user = format!("{READER}@'{host}'");
        session.send(&format!("CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{password}'"))?;
        session.send(&format!("GRANT SELECT ON {DATABASE}.* TO {user}"))?;
    }
    Ok(Target { user: Some(READER.to_owned()), ..target })
}

/// Refuses a user of a given server that has more privileges than a query of a workload file needs.
fn check_user(session: &Session) -> Result<()> {
    let reaches: Option<Vec<[String; 1]>> = session.connection.rows(REACHES_FILES).ok();
    let what = match reaches.as_ref().and_then(|rows| rows.first()) {
        Some([count]) if count == "0" => return Ok(()),
        Some(_) => {
            "SQL of a workload file by a user who may read files of the server: give a URL with a user \
             without the privilege FILE"
        }
        None => "SQL of a workload file on a server that does not say what its user may do",
    };
    Err(EngineError::unsupported(NAME, what))
}

/// Prepares a query. The server's parser accepts one statement, and in EXISTS only a query.
pub(super) fn prepare(reader: &Rc<Connection>, sql: &str) -> Result<Prepared> {
    Handle::prepare(reader, &format!("SELECT EXISTS (\n{sql}\n)"))
        .and_then(|_| Prepared::new(reader, sql))
        .map_err(|e| refused(NAME, sql, e))
}
