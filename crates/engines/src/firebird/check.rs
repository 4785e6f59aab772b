//! Firebird's own check.

use super::api::{info, open};
use super::config::{DatabaseConfig, OpenMode};
use super::connection::Connection;
use super::{NAME, failed};
use crate::{Checked, EngineError, Result};

/// Errors counted by the validation, by kind of page.
const COUNTED: [(u8, &str); 7] = [
    (info::PAGE_ERRORS, "page errors"),
    (info::RECORD_ERRORS, "record level errors"),
    (info::BLOB_PAGE_ERRORS, "blob page errors"),
    (info::DATA_PAGE_ERRORS, "data page errors"),
    (info::INDEX_PAGE_ERRORS, "index page errors"),
    (info::POINTER_PAGE_ERRORS, "pointer page errors"),
    (info::TRANSACTION_PAGE_ERRORS, "transaction page errors"),
];

/// Validates the database, which must not be open, like `gfix -validate -full -no_update`: every
/// page, every record with its parts, and every index
/// (<https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html>).
/// It counts errors, and describes them only in its log. Pages have no checksums, so it does not
/// detect a changed byte of a value.
pub(super) fn validate(config: &DatabaseConfig) -> Result<Checked> {
    let mut checked = Checked::new("validation (gfix -validate -full)");
    let how = open::VERIFY_PAGES | open::VERIFY_RECORDS | open::VERIFY_ONLY;
    let connection = match Connection::open(config, OpenMode::Existing, &[(open::VERIFY, how)]) {
        Ok(connection) => connection,
        // Damage that it cannot get past.
        Err(error) => {
            checked.found(error.to_string());
            return Ok(checked);
        }
    };
    let counted = connection.numbers(&COUNTED.map(|(item, _)| item));
    let counted = counted.map_err(|e| failed("read what its validation found", &e))?;
    for (item, what) in COUNTED {
        let Some((_, count)) = counted.iter().find(|(known, _)| *known == item) else {
            let why = format!("it does not report the number of {what}");
            return Err(EngineError::failed(NAME, "validate the database", why));
        };
        if *count > 0 {
            checked.found(format!("{count} {what}"));
        }
    }
    connection.detach().map_err(|e| failed("close the database after its validation", &e))?;
    Ok(checked)
}
