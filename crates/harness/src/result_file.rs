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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use embermark_report::load;

    use super::*;

    #[test]
    fn a_result_is_one_line_and_compressed_by_its_name_and_reads_back_as_it_was() {
        let result = load(Path::new("../report/tests/fixtures/schema-1.json")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [plain, gzip] = ["a.json", "a.json.gz"].map(|name| folder.path().join(name));
        for path in [&plain, &gzip] {
            write_result(path, &result).unwrap();
            let back = serde_json::to_value(load(path).unwrap()).unwrap();
            assert!(back == serde_json::to_value(&result).unwrap(), "{}", path.display());
        }
        let [plain, gzip] = [plain, gzip].map(|path| fs::read(path).unwrap());
        assert_eq!(plain.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(gzip.starts_with(&[0x1f, 0x8b]) && gzip.len() < plain.len() / 3, "{}", gzip.len());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }
}
