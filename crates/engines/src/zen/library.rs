//! Finding and loading Zen's library, once in a process.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use super::ffi::Api;

/// Names the folder that holds the library, before all others.
const FOLDER: &str = "ZEN_LIB_DIR";

/// Where Zen, and PSQL before it, are installed.
const FOLDERS: [&str; 2] = ["/usr/local/actianzen/lib64", "/usr/local/psql/lib64"];

/// What gets the library.
pub(super) const REMEDY: &str = "install Actian Zen 15 or newer (its client and engine), then set \
                                 ZEN_LIB_DIR to the folder that holds libbtrieveC.so";

/// The library's functions, or why there are none.
pub(super) fn library() -> Result<&'static Api, &'static str> {
    static LIBRARY: OnceLock<Result<Api, String>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| load(env::var_os(FOLDER).as_deref().map(Path::new)));
    found.as_ref().map_err(String::as_str)
}

fn load(named: Option<&Path>) -> Result<Api, String> {
    let file = libloading::library_filename("btrieveC");
    let paths = match named {
        // A folder that was named is the only one asked, so that a wrong name is not hidden.
        Some(folder) => vec![folder.join(&file)],
        None => {
            let installed = FOLDERS.iter().map(|folder| Path::new(folder).join(&file));
            let mut paths: Vec<PathBuf> = installed.filter(|path| path.exists()).collect();
            paths.push(PathBuf::from(&file));
            paths
        }
    };
    let mut why = String::new();
    for path in &paths {
        // SAFETY: Zen's manual names no demands of the library's initializers.
        match unsafe { Library::new(path) } {
            Ok(library) => return probe(library),
            Err(error) => why = with_cause(&error),
        }
    }
    Err(format!("its library could not be loaded: {why}"))
}

fn probe(library: Library) -> Result<Api, String> {
    // The client's threads may outlive the last database, so it stays loaded.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: it is Zen's, by its name, and never unloaded.
    unsafe { Api::load(library) }
        .map_err(|e| format!("its library lacks a function that is needed: {}", with_cause(&e)))
}

/// An error of the loader, which keeps what matters in its cause.
fn with_cause(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_named_and_holds_none_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let why = load(Some(folder.path())).err().unwrap();
        assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
        std::fs::write(folder.path().join("libbtrieveC.so"), "no library").unwrap();
        assert!(load(Some(folder.path())).is_err());
    }
}
