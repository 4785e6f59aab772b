//! Writing result files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use embermark_model::result::ResultFile;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::HarnessError;

/// The bytes of the result file at `path`: JSON on one line, which is compressed if the name ends in `.gz`. The same
/// result gives the same bytes.
///
/// # Errors
/// When a value has no JSON form.
pub fn result_bytes(path: &Path, result: &ResultFile) -> io::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(result)?;
    json.push(b'\n');
    if path.extension().is_none_or(|end| end != "gz") {
        return Ok(json);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&json)?;
    gzip.finish()
}

/// Writes a result file whole or not at all, as [`result_bytes`] has it.
///
/// # Errors
/// When it cannot be written.
pub fn write_result(path: &Path, result: &ResultFile) -> Result<(), HarnessError> {
    let draft = path.with_added_extension("part");
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(&result_bytes(path, result)?)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().map_err(|error| {
        // Its absence or presence changes nothing about what went wrong.
        let _ = fs::remove_file(&draft);
        HarnessError::file(path, "write the result", error)
    })
}
