//! Finding and loading DuckDB's library, once in a process.

use std::env;
use std::error::Error;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use super::api::Api;
use super::api::SUCCESS;

/// Names the folder that holds the library, before all others.
const FOLDER: &str = "DUCKDB_LIB_DIR";

/// What gets the library.
pub(super) const REMEDY: &str =
    "run `make deps`, or set DUCKDB_LIB_DIR to a folder that holds libduckdb.so";

/// The library, loaded.
pub(super) struct DuckLib {
    pub api: Api,
    /// Its version as it says itself, without the `v`.
    pub version: String,
    /// Whether a commit can be kept from syncing: a setting since 2.0.
    pub has_fsync_mode: bool,
    /// Whether the log can be left unwritten: an option of ATTACH since 1.5.
    pub has_no_wal: bool,
}

/// The library, or why there is none.
pub(super) fn library() -> Result<&'static DuckLib, &'static str> {
    static LIBRARY: OnceLock<Result<DuckLib, String>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| load(env::var_os(FOLDER).as_deref().map(Path::new)));
    found.as_ref().map_err(String::as_str)
}

fn load(named: Option<&Path>) -> Result<DuckLib, String> {
    let file = libloading::library_filename("duckdb");
    let paths = match named {
        // A folder that was named is the only one asked, so that a wrong name is not hidden.
        Some(folder) => vec![folder.join(&file)],
        None => {
            let mut paths: Vec<PathBuf> =
                folders().iter().map(|folder| folder.join(&file)).filter(|p| p.exists()).collect();
            paths.push(PathBuf::from(&file));
            paths
        }
    };
    let mut why = String::new();
    for path in &paths {
        // SAFETY: DuckDB's initializers have no demands of their own.
        match unsafe { Library::new(path) } {
            Ok(library) => return probe(library),
            Err(error) => why = with_cause(&error),
        }
    }
    Err(format!("its library could not be loaded: {why}"))
}

/// An error of the loader, which keeps what matters in its cause.
fn with_cause(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| cause.to_string())
}

fn folders() -> Vec<PathBuf> {
    let beside = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    let mut folders = Vec::new();
    if let Some(beside) = beside {
        folders.push(beside.join("../lib"));
        folders.insert(0, beside);
    }
    folders.push(crate::deps::folder("duckdb"));
    folders
}

fn probe(library: Library) -> Result<DuckLib, String> {
    // Its threads and its memory may outlive the last database, so it stays loaded.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: it is DuckDB's, by its name, and never unloaded.
    let api = unsafe { Api::load(library) }
        .map_err(|e| format!("its library lacks a function that is needed: {}", with_cause(&e)))?;
    // SAFETY: the version is a constant text.
    let version = unsafe { CStr::from_ptr((api.library_version)()) }.to_string_lossy();
    let version = version.trim_start_matches('v').to_owned();
    let has_fsync_mode = has_flag(&api, c"fsync_mode");
    let has_no_wal = at_least(&version, (1, 5));
    Ok(DuckLib { api, version, has_fsync_mode, has_no_wal })
}

fn has_flag(api: &Api, flag: &CStr) -> bool {
    // SAFETY: the names are constant texts; each index is below the count.
    unsafe {
        (0..(api.config_count)()).any(|index| {
            let (mut name, mut about) = (std::ptr::null(), std::ptr::null());
            let code = (api.get_config_flag)(index, &raw mut name, &raw mut about);
            code == SUCCESS && !name.is_null() && CStr::from_ptr(name) == flag
        })
    }
}

fn at_least(version: &str, least: (u32, u32)) -> bool {
    let mut parts = version.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    matches!((parts.next(), parts.next()), (Some(major), Some(minor)) if (major, minor) >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_named_and_holds_none_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let why = load(Some(folder.path())).err().unwrap();
        assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
        let other = libloading::library_filename("duckdb");
        std::fs::write(folder.path().join(other), "no library").unwrap();
        assert!(load(Some(folder.path())).is_err());
    }

    #[test]
    fn versions_are_compared_by_number_and_an_odd_one_is_taken_for_old() {
        assert!(at_least("1.5.6", (1, 5)) && at_least("1.10.0-dev3", (1, 5)));
        assert!(at_least("2.0.0", (1, 5)));
        assert!(!at_least("1.4.4", (1, 5)) && !at_least("0.9.2", (1, 5)));
        assert!(!at_least("", (1, 5)) && !at_least("nightly", (1, 5)));
    }
}
