//! Result files that the command line names: files, folders and patterns.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use embermark_report::{OfDevice, label};

use super::repeat;
use crate::error::Failure;

/// Each result with a name that no other one has: its own, or where others have that too its whole path.
pub fn of_paths(paths: &[PathBuf]) -> Vec<OfDevice> {
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
        OfDevice { device, path: path.clone() }
    });
    named.collect()
}

/// The files that are named, those that a pattern names, and every result below the folders that are.
pub fn results_below(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = Vec::new();
    for path in named {
        left.extend(matching(path)?);
    }
    left.reverse();
    while let Some(path) = left.pop() {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
        let entries = fs::read_dir(&path).map_err(unreadable)?;
        let mut below: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>().map_err(unreadable)?;
        below.retain(|path| path.is_dir() || is_named_as_result(path));
        below.sort_unstable_by(|a, b| b.cmp(a));
        left.extend(below);
    }
    Ok(files)
}

/// Whether a file below a folder is taken for a result by its name: `*.json` or `*.json.gz`.
fn is_named_as_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    (text.ends_with(".json") || text.ends_with(".json.gz")) && name != repeat::PARTS
}

/// What a pattern names; a path that is there, or has nothing of a pattern, names itself.
fn matching(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let text = path.to_string_lossy();
    if path.exists() || !text.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let found = glob::glob(&text);
    let found =
        found.map_err(|error| Failure::usage(format!("'{text}' is no pattern: {error}")))?;
    let found: Vec<PathBuf> = found.collect::<Result<_, _>>().map_err(Failure::usage)?;
    if found.is_empty() {
        return Err(Failure::usage(format!("no file is named by '{text}'")));
    }
    Ok(found)
}
