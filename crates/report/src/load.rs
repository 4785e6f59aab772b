//! Reads result files, which may be compressed.

use std::collections::HashSet;
use std::fs::File;
use std::hash::Hash;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use embermark_model::Status;
use embermark_model::durability_result::{self, Outcome};
use embermark_model::result::{ResultFile, SCHEMA, Trial};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::error::Category;

use crate::error::LARGEST_MIB;
use crate::{ReportError, text};

/// Longest text of an engine in bytes. A run keeps at most 10,000 characters of one.
const LONGEST_TEXT: usize = 1 << 20;

/// First bytes of a gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Fields that show whether a file is a result. They are read first.
#[derive(Deserialize)]
struct Header {
    schema: Option<Value>,
    manifest: Option<IgnoredAny>,
    cells: Option<IgnoredAny>,
}

/// Reads the result file at `path`, of any schema up to [`SCHEMA`], and upgrades it to that schema.
/// The file may be gzip-compressed, whatever its name. Unknown fields are ignored, and absent
/// optional fields take their defaults.
///
/// # Errors
/// If the file is missing, unreadable, cut off, damaged, too large, not JSON, not a result, or of a
/// newer schema.
pub fn load(path: &Path) -> Result<ResultFile, ReportError> {
    let bytes = read(path, ReportError::Missing)?;
    if is_journal(&bytes) {
        return Err(ReportError::Journal(path.to_owned()));
    }
    let not_a_result = |lacks| ReportError::NotAResult(path.to_owned(), lacks);
    let invalid = |error: serde_json::Error| match error.classify() {
        Category::Eof => ReportError::Truncated(path.to_owned()),
        Category::Data => not_a_result("it is not an object"),
        _ => ReportError::NotJson(path.to_owned(), error.to_string()),
    };
    let header: Header = serde_json::from_slice(&bytes).map_err(invalid)?;
    if header.schema.as_ref().and_then(Value::as_str) == Some(durability_result::SCHEMA) {
        return Err(not_a_result("it is one of `embermark durability`, which --durability takes"));
    }
    let schema = header.schema.as_ref().and_then(Value::as_u64).filter(|version| *version > 0);
    let schema = schema.ok_or_else(|| not_a_result("it has no schema number"))?;
    if schema > u64::from(SCHEMA) {
        return Err(ReportError::TooNew(path.to_owned(), schema));
    }
    header.manifest.ok_or_else(|| not_a_result("it has no manifest"))?;
    header.cells.ok_or_else(|| not_a_result("it has no cells"))?;
    let malformed = |field: String| ReportError::Malformed(path.to_owned(), field);
    // Finding the path of a bad field makes reading twice as slow, so it is done only after an
    // error.
    let mut file: ResultFile =
        serde_json::from_slice(&bytes).or_else(|_| by_field(&bytes).map_err(malformed))?;
    if let Some(what) = too_long(&file).or_else(|| duplicate(&file)) {
        return Err(ReportError::Changed(path.to_owned(), what));
    }
    if file.schema < 4 {
        for cell in &mut file.cells {
            // In such a schema a cell was failed if it never began or if it lost a trial.
            if cell.status == Status::Failed && cell.trials.is_empty() {
                cell.status = Status::NotRun;
            }
            cell.move_lost_trials();
        }
    }
    Ok(ResultFile { schema: SCHEMA, ..file })
}

/// Reads the content of a file. The error has the path of the first unreadable field and its
/// problem.
fn by_field<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(json);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (field, what) = (error.path().to_string(), error.inner().to_string());
        // The file is one line, so the column is of no use.
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        format!("{field}: {what}")
    })
}

/// Returns the first engine text that is longer than any that a run keeps.
fn too_long(file: &ResultFile) -> Option<String> {
    let of_trial = |trial: &Trial| {
        let of_phases = trial.phases.iter().map(|part| &part.reason);
        let reasons = [&trial.reason].into_iter().chain(of_phases).flatten();
        let reasons = reasons.map(|text| ("reason", text.len()));
        let settings = trial.settings.iter().flat_map(|(name, value)| [name, value]);
        let settings = settings.map(|text| ("setting", text.len()));
        let version = trial.version.iter().map(|text| ("version", text.len()));
        version.chain(reasons).chain(settings).find(|(_, length)| *length > LONGEST_TEXT)
    };
    file.cells.iter().find_map(|cell| {
        let timed = cell.trials.iter().chain(&cell.lost_trials);
        let mut trials = timed.chain(cell.counting.as_deref());
        let reason = cell.reason.as_ref().map(|text| ("reason", text.len()));
        let reason = reason.filter(|(_, length)| *length > LONGEST_TEXT);
        let (what, length) = reason.or_else(|| trials.find_map(of_trial))?;
        let what = format!("a {what} of {length} bytes in the cell {}", cell.id);
        Some(what + ", and 1 MiB is the most")
    })
}

/// Returns the first cell, trial or phase that the file has more than once. Each copy would be
/// counted.
fn duplicate(file: &ResultFile) -> Option<String> {
    if let Some(id) = twice(file.cells.iter().map(|cell| &cell.id)) {
        return Some(format!("the cell {id} twice"));
    }
    file.cells.iter().find_map(|cell| {
        let trials = || cell.trials.iter().chain(&cell.lost_trials);
        let trial = twice(trials().map(|trial| trial.index)).map(|at| format!("trial {at}"));
        let mut phases = trials().chain(cell.counting.as_deref()).map(|trial| &trial.phases);
        let phase = phases.find_map(|all| twice(all.iter().map(|part| &part.phase)));
        let what = trial.or_else(|| Some(format!("the phase '{}'", phase?)))?;
        Some(format!("{what} of the cell {} twice", cell.id))
    })
}

/// Returns the first item that is among those before it.
fn twice<T: Copy + Eq + Hash>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let mut known = HashSet::new();
    all.find(|one| !known.insert(*one))
}

/// Reads the result of an `embermark durability`: the file at `path`, or the one in the folder at
/// `path`.
///
/// # Errors
/// If it is missing, unreadable, or not such a result.
pub fn load_durability(path: &Path) -> Result<Outcome, ReportError> {
    let path = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    let bytes = read(&path, ReportError::NoDurability)?;
    let not = |why: String| ReportError::NotDurability(path.clone(), why);
    let header: Value = serde_json::from_slice(&bytes).map_err(|error| not(error.to_string()))?;
    match header.get("schema").and_then(Value::as_str) {
        Some(durability_result::SCHEMA) => by_field(&bytes).map_err(not),
        Some(other) => Err(not(format!("its schema is {}", text::clipped(other, 60)))),
        None => Err(not("it has no such schema".to_owned())),
    }
}

/// Returns the JSON of a result file. Every reader of results uses this function. A file with the
/// first bytes of gzip is decompressed.
fn read(path: &Path, missing: fn(PathBuf) -> ReportError) -> Result<Vec<u8>, ReportError> {
    let file = File::open(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => missing(path.to_owned()),
        _ => ReportError::Unreadable(path.to_owned(), source),
    })?;
    at_most(LARGEST_MIB << 20, path, file)
}

/// Returns the decompressed bytes of a file if there are at most `limit`.
fn at_most(limit: u64, path: &Path, mut file: impl Read) -> Result<Vec<u8>, ReportError> {
    let unreadable = |source| ReportError::Unreadable(path.to_owned(), source);
    let mut first = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut first).map_err(unreadable)?;
    let is_gzip = first == GZIP;
    let whole = io::Cursor::new(first).chain(file);
    let mut bytes = Vec::new();
    if is_gzip {
        let read = MultiGzDecoder::new(whole).take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|cause| ReportError::Damaged(path.to_owned(), bytes.len(), cause))?;
    } else {
        whole.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > limit { Err(ReportError::TooLarge(path.to_owned())) } else { Ok(bytes) }
}

/// Whether a file is a journal, which the first line shows.
fn is_journal(bytes: &[u8]) -> bool {
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Value>(first_line)
        .is_ok_and(|value| value.get("embermark_journal").is_some())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn no_more_is_read_than_the_limit_compressed_or_not() {
        let (path, text) = (Path::new("bomb.json"), [b' '; 100_000]);
        let bomb = compressed(&text);
        assert!(bomb.len() < 1_000, "{}", bomb.len());
        for file in [&text[..], &bomb] {
            assert_eq!(at_most(100_000, path, file).unwrap(), text);
            let error = at_most(99_999, path, file).unwrap_err();
            assert!(matches!(error, ReportError::TooLarge(_)), "{error}");
            assert!(error.to_string().contains("bomb.json has more than 512 MiB"), "{error}");
        }
        // Several members, as from `cat a.gz b.gz`, form one text, and the limit applies to their
        // sum.
        let twice = [bomb.clone(), bomb].concat();
        assert_eq!(at_most(200_000, path, &twice[..]).unwrap().len(), 200_000);
        assert!(at_most(199_999, path, &twice[..]).is_err());
    }
}
