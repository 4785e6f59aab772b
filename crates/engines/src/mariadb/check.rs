//! MariaDB's own check.

use super::failed;
use super::session::Session;
use crate::{Checked, Result};

/// Checks every table and its indexes (<https://mariadb.com/kb/en/check-table/>).
pub(super) fn tables(session: &mut Session) -> Result<Checked> {
    let mut checked = Checked::new("CHECK TABLE … EXTENDED");
    let tables = session.tables()?.join(", ");
    if tables.is_empty() {
        return Ok(checked);
    }
    let sql = format!("CHECK TABLE {tables} EXTENDED");
    // Table, operation, kind of message, message. The last row of a table is its status.
    let rows = session.connection.rows(&sql);
    let rows: Vec<[String; 4]> = rows.map_err(|e| failed(format!("run `{sql}`"), &e))?;
    for [table, _, kind, said] in rows {
        let is_status = kind.eq_ignore_ascii_case("status");
        if !(is_status && said == "OK" || kind.eq_ignore_ascii_case("note")) {
            checked.found(format!("{table}: {kind}: {said}"));
        }
    }
    Ok(checked)
}
