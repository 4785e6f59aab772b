//! Firebird's own check.

use super::config::{DatabaseConfig, OpenMode};
use super::connection::Connection;
use super::{NAME, failed};
use crate::{Checked, EngineError, Result};

/// Errors counted by the validation, by kind of page: the information items `isc_info_page_errors`
/// to `isc_info_tpage_errors`.
const COUNTED: [(u8, &str); 7] = [
    (54, "page errors"),
    (55, "record level errors"),
    (56, "blob page errors"),
    (57, "data page errors"),
    (58, "index page errors"),
    (59, "pointer page errors"),
    (60, "transaction page errors"),
];

/// Validates the database, which must not be open, like `gfix -validate -full -no_update`: every
/// page, every record with its parts, and every index
/// (<https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html>).
/// It counts errors, and describes them only in its log. Pages have no checksums, so it does not
/// detect a changed byte of a value.
pub(super) fn validate(config: &DatabaseConfig) -> Result<Checked> {
    let mut checked = Checked::new("validation (gfix -validate -full)");
    let connection = match Connection::open(config, OpenMode::Validated) {
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
