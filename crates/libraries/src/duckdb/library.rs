//! Loads DuckDB's library, once per process.

use std::env;
use std::ffi::CStr;
use std::path::PathBuf;

use super::NAME;
use super::api::{Api, SUCCESS};
use crate::{Loaded, Search};

/// Environment variable that names its folder.
pub const VARIABLE: &str = "DUCKDB_LIB_DIR";

/// The library.
pub static LIBRARY: Loaded<DuckLib> = Loaded::new(
    NAME,
    crate::deps::install_hint(
        "run `make deps`, or set DUCKDB_LIB_DIR to a folder that holds libduckdb.so",
        "install embermark's package again, or set DUCKDB_LIB_DIR to a folder that holds libduckdb.so",
    ),
    load,
);

/// The loaded library.
pub struct DuckLib {
    /// Its functions.
    pub api: Api,
    /// Version that it reports, without the `v`.
    pub version: String,
    /// Whether syncing at a commit can be switched off: a setting since 2.0.
    pub has_fsync_mode: bool,
    /// Whether the block size of a database can be set.
    pub has_block_size: bool,
    /// Whether the write-ahead log can be switched off: an option of ATTACH since 1.5.
    pub has_no_wal: bool,
}

fn load() -> Result<(DuckLib, PathBuf), String> {
    let folders = folders();
    let search = Search { variable: VARIABLE, file: "libduckdb.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: it is DuckDB's by its name, and the functions have kept their types since they were
    // declared stable.
    let api = unsafe { Api::load(library) }?;
    // SAFETY: the version is a constant text.
    let version = unsafe { CStr::from_ptr((api.library_version)()) }.to_string_lossy();
    let version = version.trim_start_matches('v').to_owned();
    let has_fsync_mode = has_flag(&api, c"fsync_mode");
    let has_block_size = has_flag(&api, c"default_block_size");
    let has_no_wal = at_least(&version, (1, 5));
    Ok((DuckLib { api, version, has_fsync_mode, has_block_size, has_no_wal }, path))
}

fn folders() -> Vec<PathBuf> {
    let beside = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned()));
    let beside = beside.into_iter().flat_map(|folder| [folder.clone(), folder.join("../lib")]);
    beside.chain([crate::deps::folder("duckdb")]).collect()
}

fn has_flag(api: &Api, flag: &CStr) -> bool {
    // SAFETY: the names are constant texts, and each index is below the count.
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
    fn versions_are_compared_by_number_and_an_odd_one_is_taken_for_old() {
        assert!(at_least("1.5.6", (1, 5)) && at_least("1.10.0-dev3", (1, 5)));
        assert!(at_least("2.0.0", (1, 5)));
        assert!(!at_least("1.4.4", (1, 5)) && !at_least("0.9.2", (1, 5)));
        assert!(!at_least("", (1, 5)) && !at_least("nightly", (1, 5)));
    }
}
