//! SQLite's own check.

use rusqlite::{Connection, Error, ErrorCode};

use super::NAME;
use crate::{Checked, EngineError, Result};

/// Checks every page of every table and index, and that each row is in its indexes
/// (<https://www.sqlite.org/pragma.html#pragma_integrity_check>). Pages have no checksums, so it
/// does not detect a changed byte of a value.
pub(super) fn integrity(connection: &Connection) -> Result<Checked> {
    let mut checked = Checked::new("PRAGMA integrity_check");
    let mut look = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare("PRAGMA integrity_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get_ref(0)?.as_str()? {
                // One row if nothing is wrong.
                "ok" => {}
                said => checked.found(said),
            }
        }
        Ok(())
    };
    match look() {
        // Damage that it cannot get past.
        Err(error) if is_damage(&error) => checked.found(error.to_string()),
        Err(error) => return Err(EngineError::failed(NAME, "check the database", error)),
        Ok(()) => {}
    }
    Ok(checked)
}

/// Returns whether the library stopped because of damaged data.
fn is_damage(error: &Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
