//! RocksDB's library, opened once in a process, and what it says of itself: it has no function that
//! tells its version or most of its options, but writes them beside each database
//! (<https://github.com/facebook/rocksdb/wiki/RocksDB-Options-File>).

use std::error::Error;
use std::path::Path;
use std::{fs, io};

use super::api::Api;
use super::db;
use crate::library::{Loaded, Search};
use crate::lsm::{self, Lib};

/// The library.
pub(super) static LIBRARY: Loaded<RocksLib> = Loaded::new(
    super::ID,
    "apt-get install librocksdb-dev, or set ROCKSDB_LIB_DIR to a folder that holds librocksdb.so",
    load,
);

/// The library, loaded.
pub(super) struct RocksLib {
    pub lib: Lib,
    pub api: &'static Api,
    /// Its version, as it writes it into a database.
    pub version: String,
}

fn load() -> Result<RocksLib, String> {
    let folders = [crate::deps::folder("rocksdb")];
    let search = Search { variable: "ROCKSDB_LIB_DIR", file: "librocksdb.so", folders: &folders };
    let library = search.open()?;
    // SAFETY: it is RocksDB's, by its name; its C interface has kept these functions from release
    // to release.
    let (common, api) = unsafe { (lsm::Api::load_as(library, "rocksdb_")?, Api::load(library)?) };
    // They live as long as the process, as the library does.
    let (common, api): (&'static _, &'static _) = (Box::leak(common.into()), Box::leak(api.into()));
    let lib = Lib { id: super::ID, api: common };
    let version =
        version(lib, api).map_err(|error| format!("its version is not known: {error}"))?;
    Ok(RocksLib { lib, api, version })
}

fn version(lib: Lib, api: &'static Api) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    drop(db::open(lib, api, folder.path(), "create_if_missing=true", (true, false))?);
    let written = written_options(folder.path())?;
    let version = written.into_iter().find(|(name, _)| name == "rocksdb_version");
    Ok(version.ok_or("no options file tells it")?.1)
}

/// What the newest options file of a database says: what it really runs with. What is said of each
/// column family stands there for each, that of the first (they are all alike) first.
pub(super) fn written_options(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let mut newest = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix("OPTIONS-")?.parse::<u64>().ok());
        newest = newest.max(number.map(|number| (number, path)));
    }
    let (_, path) = newest.ok_or_else(|| io::Error::other("it wrote no options file"))?;
    let text = fs::read_to_string(path)?;
    let options = text.lines().filter_map(|line| line.trim().split_once('='));
    Ok(options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests;
