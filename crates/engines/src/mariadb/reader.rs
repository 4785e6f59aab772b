//! The connection that runs the queries of a workload file. Its user can only read the tables, and
//! its transactions only read. It is separate from the workload's connection, whose settings a
//! query could change.

use std::rc::Rc;

use super::connection::Connection;
use super::failure::Failure;
use super::handle::Handle;
use super::managed::DATABASE;
use super::session::Session;
use super::statement::Prepared;
use super::target::Target;
use super::{NAME, failed};
use crate::sql_driver::refused;
use crate::{Result, server};

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
        false => {
            let reaches = session.connection.rows(REACHES_FILES).ok();
            let reaches = reaches.and_then(|rows| rows.first().map(|[count]| count != "0"));
            server::check_user(NAME, reaches, "without the privilege FILE")?;
            target
        }
    };
    let could_not = |e: Failure| failed("connect as a user that only reads", &e);
    let reader = Connection::open(session.connection.library, &target).map_err(could_not)?;
    reader.run(&Session::settings()).map_err(could_not)?;
    reader.run("SET SESSION TRANSACTION READ ONLY").map_err(could_not)?;
    Ok(reader)
}

/// Creates the reader of a private server, if it is missing, with the password of this start of the
/// server: each start can have another.
fn user(session: &Session, target: Target) -> Result<Target> {
    // A private server's password only has hexadecimal digits.
    let password = target.password.as_deref().unwrap_or_default();
    for host in ["localhost", "127.0.0.1"] {
        let user = format!("{READER}@'{host}'");
        session.send(&format!(
            "CREATE USER IF NOT EXISTS {user} IDENTIFIED BY '{password}'; \
             ALTER USER {user} IDENTIFIED BY '{password}'; GRANT SELECT ON {DATABASE}.* TO {user}"
        ))?;
    }
    Ok(Target { user: Some(READER.to_owned()), ..target })
}

/// Prepares a query. The server's parser accepts one statement, and in EXISTS only a query.
pub(super) fn prepare(reader: &Rc<Connection>, sql: &str) -> Result<Prepared> {
    Handle::prepare(reader, &format!("SELECT EXISTS (\n{sql}\n)"))
        .and_then(|_| Prepared::new(reader, sql))
        .map_err(|e| refused(NAME, sql, e))
}
