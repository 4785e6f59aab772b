//! Reading a result file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use embermark_model::Status;
use embermark_model::durability_result::{self, Outcome};
use embermark_model::result::{Cell, ResultFile, SCHEMA};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{ReportError, text};

/// What is looked at before the file is taken for a result.
#[derive(Deserialize)]
struct Face {
    schema: Option<Value>,
    manifest: Option<IgnoredAny>,
    cells: Option<IgnoredAny>,
}

/// Reads the result file at `path`, of any schema up to [`SCHEMA`], which it then has. Fields this
/// version does not know are ignored, optional ones that are absent take their defaults.
///
/// # Errors
/// When the file is missing, unreadable, cut off, not JSON, not a result, or of a newer schema.
pub fn load(path: &Path) -> Result<ResultFile, ReportError> {
    let bytes = read(path, ReportError::Missing)?;
    if is_journal(&bytes) {
        return Err(ReportError::Journal(path.to_owned()));
    }
    let face: Face = serde_json::from_slice(&bytes).map_err(|error| no_face(path, &error))?;
    let not_a_result = |lacks| ReportError::NotAResult(path.to_owned(), lacks);
    if face.schema.as_ref().and_then(Value::as_str) == Some(durability_result::SCHEMA) {
        return Err(not_a_result("it is one of `embermark durability`, which --durability takes"));
    }
    let schema = face.schema.as_ref().and_then(Value::as_u64).filter(|version| *version > 0);
    let schema = schema.ok_or_else(|| not_a_result("it has no schema number"))?;
    if schema > u64::from(SCHEMA) {
        return Err(ReportError::TooNew(path.to_owned(), schema));
    }
    if face.manifest.is_none() {
        return Err(not_a_result("it has no manifest"));
    }
    if face.cells.is_none() {
        return Err(not_a_result("it has no cells"));
    }
    let malformed =
        |error: serde_json::Error| ReportError::Malformed(path.to_owned(), error.to_string());
    let mut file: ResultFile = serde_json::from_slice(&bytes).map_err(malformed)?;
    if file.schema < 4 {
        file.cells.iter_mut().for_each(of_older);
    }
    Ok(ResultFile { schema: SCHEMA, ..file })
}

/// Makes of a cell of schema 3 or older what it is today: one that was never begun was failed then,
/// and so was one that lost a trial.
fn of_older(cell: &mut Cell) {
    if cell.status == Status::Failed && cell.trials.is_empty() {
        cell.status = Status::NotRun;
    }
    cell.set_lost_aside();
}

/// Reads the result of an `embermark durability`: the file, or that of the folder at `path`.
///
/// # Errors
/// When it is missing, unreadable, or no such result.
pub fn load_durability(path: &Path) -> Result<Outcome, ReportError> {
    let path = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    let bytes = read(&path, ReportError::NoDurability)?;
    let not = |why: String| ReportError::NotDurability(path.clone(), why);
    let face: Value = serde_json::from_slice(&bytes).map_err(|error| not(error.to_string()))?;
    match face.get("schema").and_then(Value::as_str) {
        Some(durability_result::SCHEMA) => {}
        Some(other) => return Err(not(format!("its schema is {}", text::clipped(other, 60)))),
        None => return Err(not("it has no such schema".to_owned())),
    }
    serde_json::from_value(face).map_err(|error| not(error.to_string()))
}

fn read(path: &Path, missing: fn(PathBuf) -> ReportError) -> Result<Vec<u8>, ReportError> {
    std::fs::read(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => missing(path.to_owned()),
        _ => ReportError::Unreadable(path.to_owned(), source),
    })
}

fn no_face(path: &Path, error: &serde_json::Error) -> ReportError {
    let path = path.to_owned();
    if error.is_eof() {
        ReportError::Truncated(path)
    } else if error.is_data() {
        ReportError::NotAResult(path, "it is no object")
    } else {
        ReportError::NotJson(path, error.to_string())
    }
}

/// A journal says what it is in its first line.
fn is_journal(bytes: &[u8]) -> bool {
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Value>(first_line)
        .is_ok_and(|value| value.get("embermark_journal").is_some())
}
