//! Finds the files of a table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::kind::Kind;
use crate::DataError;

/// Extensions of the files that are read in a folder.
const EXTENSIONS: [&str; 8] = ["csv", "tsv", "txt", "dat", "json", "jsonl", "ndjson", "parquet"];

/// Files of one kind.
#[derive(Debug)]
pub(in crate::table) struct Files {
    pub(in crate::table) kind: Kind,
    pub(in crate::table) paths: Vec<PathBuf>,
}

impl Files {
    /// Finds files, including those of globs and folders. Names are relative to `base`.
    pub(super) fn find(names: &[String], base: &Path) -> Result<Self, DataError> {
        let mut paths = Vec::new();
        for name in names {
            let path = without_parents(&base.join(name));
            let is_folder = path.is_dir();
            if !is_folder && (path.exists() || !name.contains(['*', '?'])) {
                paths.push(path);
                continue;
            }
            let found = if is_folder {
                let below = Pattern::escape(&path.to_string_lossy()) + "/**/*";
                matching(&below)?.into_iter().filter(|path| has_row_extension(path)).collect()
            } else {
                matching(&path.to_string_lossy())?
            };
            if found.is_empty() {
                let what = match is_folder {
                    true => format!(
                        "the folder has no file with rows whose name ends in {}",
                        EXTENSIONS.join(", ")
                    ),
                    false => "no file with rows matches this pattern".to_owned(),
                };
                return Err(DataError::not_tabular(&path, what));
            }
            paths.extend(found);
        }
        let mut kind: Option<Kind> = None;
        for path in &paths {
            let of = Kind::detect(path)?;
            if let Some(first) = kind.filter(|first| *first != of) {
                let what = format!(
                    "it is {}, and {} is {}: name files of one kind, for example \"*.csv\"",
                    of.name(),
                    paths[0].display(),
                    first.name()
                );
                return Err(DataError::not_tabular(path, what));
            }
            kind = Some(of);
        }
        let none = || DataError::NoTableFile(base.to_owned());
        Ok(Self { kind: kind.ok_or_else(none)?, paths })
    }
}

/// Returns a path without `..`, which DuckDB resolves to another file than the system does.
fn without_parents(path: &Path) -> PathBuf {
    let is_up = |part: std::path::Component<'_>| part == std::path::Component::ParentDir;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match absolute.components().any(is_up) {
        true => absolute.canonicalize().unwrap_or(absolute),
        false => absolute,
    }
}

/// Returns the names of the values in folder names, as in `day=1`, if all of several files have the
/// same ones.
pub(super) fn partitions(paths: &[PathBuf]) -> Vec<String> {
    let of = |path: &PathBuf| -> Vec<String> {
        let parts = path.parent().into_iter().flat_map(Path::iter);
        parts.filter_map(|part| Some(part.to_str()?.split_once('=')?.0.to_owned())).collect()
    };
    let all: Vec<_> = paths.iter().map(of).collect();
    match &all[..] {
        [first, _, ..] if all.iter().all(|names| names == first) => first.clone(),
        _ => Vec::new(),
    }
}

fn has_row_extension(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    EXTENSIONS.iter().any(|end| name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == *end))
}

/// Returns the files that a glob matches, by name. Leaves out empty files and names that begin with
/// a dot. A file with several names appears once.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, DataError> {
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    let found = glob::glob_with(pattern, options).map_err(|error| {
        DataError::not_tabular(pattern.as_ref(), format!("invalid pattern of files: {error}"))
    })?;
    let mut seen = HashSet::new();
    // Folders that cannot be read have no usable files.
    let mut found: Vec<PathBuf> = found.flatten().collect();
    // The shortest of the names that a cycle of links gives.
    found.sort_by_key(|path| path.components().count());
    found.retain(|path| {
        std::fs::metadata(path).is_ok_and(|of| of.is_file() && of.len() > 0)
            && path.canonicalize().is_ok_and(|path| seen.insert(path))
    });
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_names_and_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/2.csv", "a/1.csv", "a/deep/3.csv", "a/no.md", ".hidden.csv"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "id\n1\n").unwrap();
        }
        let found = |name: &str| {
            let files = Files::find(&[name.to_owned()], folder.path()).unwrap();
            let relative = files.paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap());
            relative.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("."), ["a/1.csv", "a/deep/3.csv", "b/2.csv"]);
        assert_eq!(found("*/*.csv"), ["a/1.csv", "b/2.csv"]);
        assert_eq!(found("**/*.csv"), ["a/1.csv", "a/deep/3.csv", "b/2.csv"]);
        assert_eq!(found("a/?.csv"), ["a/1.csv"]);
        assert!(Files::find(&["*.tsv".to_owned()], folder.path()).is_err());
    }
}
