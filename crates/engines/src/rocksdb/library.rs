//! RocksDB's library, loaded once per process, and its version, which it has no function for but
//! writes beside each database.

use std::error::Error;
use std::path::PathBuf;

use super::api::Api;
use super::{families, options};
use crate::EngineError;
use crate::library::{Loaded, Search};
use crate::lsm::{self, Lib};

pub(super) const VARIABLE: &str = "ROCKSDB_LIB_DIR";

const FILE: &str = "librocksdb.so";

pub(super) static LIBRARY: Loaded<RocksLib> = Loaded::new(
    super::ID,
    crate::deps::install_hint(
        "run `make deps`, or set ROCKSDB_LIB_DIR to a folder that holds librocksdb.so",
        "install embermark's package again, or set ROCKSDB_LIB_DIR to a folder that holds librocksdb.so",
    ),
    load,
);

pub(super) struct RocksLib {
    pub lib: Lib,
    pub api: &'static Api,
    /// Its version, as it writes it into a database.
    pub version: String,
}

/// Returns the system's folder of the library.
pub(super) fn system() -> crate::Result<PathBuf> {
    let search = Search { variable: VARIABLE, file: FILE, folders: &[] };
    search.system().ok_or_else(|| {
        let why = format!("the system has no {FILE}");
        EngineError::unavailable(super::ID, why, "apt-get install librocksdb-dev")
    })
}

fn load() -> Result<(RocksLib, PathBuf), String> {
    let folders = [crate::deps::folder("rocksdb")];
    let search = Search { variable: VARIABLE, file: FILE, folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is RocksDB, whose C interface has kept these functions from
    // release to release.
    let (common, api) = unsafe { (lsm::Api::load_as(library, "rocksdb_")?, Api::load(library)?) };
    // They live as long as the process, like the library.
    let (common, api): (&'static _, &'static _) = (Box::leak(common.into()), Box::leak(api.into()));
    let lib = Lib { id: super::ID, api: common };
    let version =
        version(lib, api).map_err(|error| format!("its version is not known: {error}"))?;
    Ok((RocksLib { lib, api, version }, path))
}

fn version(lib: Lib, api: &'static Api) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    drop(families::open(lib, api, folder.path(), "create_if_missing=true", (true, false))?);
    let written = options::written(folder.path())?;
    let version = written.into_iter().find(|(name, _)| name == "rocksdb_version");
    Ok(version.ok_or("no options file has it")?.1)
}
