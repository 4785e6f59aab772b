//! Finding and loading RocksDB's library, once in a process.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use libloading::Library;

use super::api::Api;
use super::db::Db;
use super::stored;

/// Names the folder that holds the library, before all others.
const FOLDER: &str = "ROCKSDB_LIB_DIR";

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
    let found = LIBRARY.get_or_init(|| load(env::var_os(FOLDER).as_deref().map(Path::new)));
    found.as_ref().map_err(String::as_str)
}

fn load(named: Option<&Path>) -> Result<RocksLib, String> {
    let paths = match named {
        // A folder that was named is the only one asked, so that a wrong name is not hidden.
        Some(folder) => match libraries(folder) {
            paths if paths.is_empty() => return Err(format!("no library in {}", folder.display())),
            paths => paths,
        },
        None => {
            let mut paths: Vec<PathBuf> = folders().iter().flat_map(|f| libraries(f)).collect();
            paths.push(libloading::library_filename("rocksdb").into());
            paths
        }
    };
    let mut why = String::new();
    for path in &paths {
        // SAFETY: RocksDB's initializers have no demands of their own.
        match unsafe { Library::new(path) } {
            Ok(library) => return probe(library),
            Err(error) => why = format!("{}: {}", path.display(), with_cause(&error)),
        }
    }
    Err(format!("its library could not be loaded: {why}"))
}

/// An error of the loader, which keeps what matters in its cause.
fn with_cause(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| cause.to_string())
}

/// Where it may be: ours, then those the loader asks, because without the files for developers
/// there is no library of the plain name that the loader could be asked for.
fn folders() -> [PathBuf; 5] {
    [
        crate::deps::folder("rocksdb"),
        "/usr/local/lib".into(),
        format!("/usr/lib/{ARCH}-linux-gnu").into(),
        "/usr/lib64".into(),
        "/usr/lib".into(),
    ]
}

/// The libraries of a folder, the newest first.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let start = format!("{DLL_PREFIX}rocksdb{DLL_SUFFIX}");
    let mut found: Vec<(Vec<u32>, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            // The plain name comes last: it is one of the others, or the only one.
            let version = name.to_str()?.strip_prefix(&start)?;
            let numbers = version.split('.').filter_map(|part| part.parse().ok()).collect();
            Some((numbers, folder.join(&name)))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

/// Loads the functions, and finds out the version: the library has no function that tells it, but
/// writes it into the options file of each database.
fn probe(library: Library) -> Result<RocksLib, String> {
    // Its threads may outlive the last database, so it stays loaded.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: it is RocksDB's, by its name, and never unloaded.
    let api = unsafe { Api::load(library) }
        .map_err(|e| format!("its library lacks a function that is needed: {}", with_cause(&e)))?;
    let version = version(&api).map_err(|error| format!("its version is not known: {error}"))?;
    Ok(RocksLib { api, version })
}

fn version(api: &Api) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    drop(Db::open_plain(api, folder.path())?);
    let stored = stored::Options::read(folder.path())?;
    Ok(stored.value("Version", "rocksdb_version").ok_or("no options file tells it")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_named_and_holds_none_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let why = load(Some(folder.path())).err().unwrap();
        assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
        let other = libloading::library_filename("rocksdb");
        fs::write(folder.path().join(other), "no library").unwrap();
        assert!(load(Some(folder.path())).is_err());
    }

    #[test]
    fn the_newest_library_of_a_folder_is_tried_first() {
        let folder = tempfile::tempdir().unwrap();
        let plain = format!("{DLL_PREFIX}rocksdb{DLL_SUFFIX}");
        let names = ["", ".7.8", ".10.2", ".9"].map(|version| format!("{plain}{version}"));
        for name in names.iter().map(String::as_str).chain(["librocksdb.a", "other.so"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let expected = [2, 3, 1, 0].map(|i: usize| folder.path().join(&names[i]));
        assert_eq!(libraries(folder.path()), expected);
    }
}
