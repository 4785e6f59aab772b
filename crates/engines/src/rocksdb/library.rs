//! RocksDB's library, opened once in a process.

use std::error::Error;
use std::sync::OnceLock;

use super::api::Api;
use super::db::Db;
use super::stored;
use crate::library::Search;

/// What gets the library.
pub(super) const REMEDY: &str = "apt-get install librocksdb-dev, or set ROCKSDB_LIB_DIR to a \
                                 folder that holds librocksdb.so";

/// The library, loaded.
pub(super) struct RocksLib {
    pub api: Api,
    /// Its version, as it writes it into a database.
    pub version: String,
}

/// The library, or why there is none.
pub(super) fn library() -> Result<&'static RocksLib, &'static str> {
    static LIBRARY: OnceLock<Result<RocksLib, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)
}

/// Loads the functions, and finds out the version: the library has no function that tells it, but
/// writes it into the options file of each database.
fn load() -> Result<RocksLib, String> {
    let folders = [crate::deps::folder("rocksdb")];
    let search = Search { variable: "ROCKSDB_LIB_DIR", file: "librocksdb.so", folders: &folders };
    // SAFETY: it is RocksDB's, by its name; its C interface has kept these functions from release
    // to release.
    let api = unsafe { Api::load(search.open()?) }?;
    let version = version(&api).map_err(|error| format!("its version is not known: {error}"))?;
    Ok(RocksLib { api, version })
}

fn version(api: &Api) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    drop(Db::open_plain(api, folder.path())?);
    let stored = stored::Options::read(folder.path())?;
    Ok(stored.value("Version", "rocksdb_version").ok_or("no options file tells it")?.to_owned())
}
