//! Result files that the command line names: files, folders and patterns.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use embermark_model::result::ResultFile;
use embermark_report::{DeviceResult, ReportError, label, load};

use super::reproduce;
use crate::error::Failure;

/// Reads a result. With `publishable`, leaves out figures that may not be published.
pub fn load_result(path: &Path, publishable: bool) -> Result<ResultFile, ReportError> {
    load(path).map(|result| if publishable { result.publishable() } else { result })
}

/// Reads several results, like [`load_result`].
pub fn load_results(paths: &[PathBuf], publishable: bool) -> Result<Vec<ResultFile>, Failure> {
    let results = paths.iter().map(|path| load_result(path, publishable));
    results.collect::<Result<_, _>>().map_err(Failure::usage)
}

/// Gives each result a unique name: its own, or its whole path if others have the same name.
pub fn device_results(paths: &[PathBuf]) -> Vec<DeviceResult> {
    let labels: Vec<String> = paths.iter().map(|path| label(path)).collect();
    let mut times: HashMap<&str, u32> = HashMap::new();
    for label in &labels {
        *times.entry(label).or_default() += 1;
    }
    let named = paths.iter().zip(&labels).map(|(path, label)| {
        let device = match times[label.as_str()] {
            1 => label.clone(),
            _ => path.display().to_string(),
        };
        DeviceResult { device, path: path.clone() }
    });
    named.collect()
}

/// Returns the named files, those that match a pattern, and every result below named folders. A
/// folder that several links lead to is searched once.
///
/// # Errors
/// If no result is found, or if a folder cannot be read.
pub fn find_results(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = Vec::new();
    for path in named {
        left.extend(expand_pattern(path)?);
    }
    left.reverse();
    let mut searched = HashSet::new();
    while let Some(path) = left.pop() {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let unreadable = |error| usage!("cannot read {}: {error}", path.display());
        if !searched.insert(path.canonicalize().map_err(unreadable)?) {
            continue;
        }
        let entries = fs::read_dir(&path).map_err(unreadable)?;
        let mut below: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(unreadable)?;
        below.retain(|path| path.is_dir() || is_named_as_result(path));
        below.sort_unstable_by(|a, b| b.cmp(a));
        left.extend(below);
    }
    match files.is_empty() {
        true => Err(usage!(
            "no result of embermark found: give result files, or a folder that has some"
        )),
        false => Ok(files),
    }
}

/// Whether a file below a folder has a result's name: `*.json` or `*.json.gz`.
fn is_named_as_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    (text.ends_with(".json") || text.ends_with(".json.gz")) && name != reproduce::PARTS
}

/// Returns the paths that match a pattern. An existing path, or one without wildcards, matches
/// itself.
fn expand_pattern(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = path.to_string_lossy();
    if path.exists() || !text.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let found = glob::glob(&text);
    let found = found.map_err(|error| usage!("'{text}' is not a pattern: {error}"))?;
    let found: Vec<PathBuf> = found.collect::<Result<_, _>>().map_err(Failure::usage)?;
    if found.is_empty() {
        return Err(usage!("no file is named by '{text}'"));
    }
    Ok(found)
}
