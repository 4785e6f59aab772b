//! MongoDB's C driver, libmongoc with libbson, loaded once per process.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::ptr;

use super::NAME;
use super::api::{BsonApi, MongocApi};
use crate::library::{Loaded, Search};

pub(super) static LIBRARY: Loaded<MongoLib> = Loaded::new(
    NAME,
    crate::deps::install_hint(
        "run `make servers`, or set MONGOC_LIB_DIR to a folder that holds libmongoc-1.0.so and \
         libbson-1.0.so",
        "apt-get install libmongoc-1.0-0, or set MONGOC_LIB_DIR to a folder that holds \
         libmongoc-1.0.so and libbson-1.0.so",
    ),
    load,
);

pub(super) struct MongoLib {
    pub mongoc: MongocApi,
    pub bson: BsonApi,
    /// Its version, for example `1.23.1`.
    pub version: String,
}

/// Returns the library for a test, which is skipped without it.
#[cfg(test)]
pub(super) fn library() -> crate::Result<&'static MongoLib> {
    LIBRARY.get().inspect_err(|why| embermark_skips::skipped(NAME, why))
}

fn load() -> Result<(MongoLib, PathBuf), String> {
    let folders = [crate::deps::folder("clients")];
    let search = Search { variable: "MONGOC_LIB_DIR", file: "libmongoc-1.0.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is MongoDB's, and 1.x keeps its interface. It needs libbson,
    // so the functions of the libbson it was loaded with are found through it.
    let (mongoc, bson) = unsafe { (MongocApi::load(library)?, BsonApi::load(library)?) };
    // SAFETY: the first call, made once. Without a handler nothing is written to the terminal:
    // errors report what matters, and a warning may quote a URL with its password. The version is a
    // constant text.
    let version = unsafe {
        (mongoc.init)();
        (mongoc.log_set_handler)(ptr::null(), ptr::null_mut());
        CStr::from_ptr((mongoc.get_version)()).to_string_lossy().into_owned()
    };
    unlink_counters();
    Ok((MongoLib { mongoc, bson, version }, path))
}

/// Unlinks the shared memory in which the driver counts its work for `mongoc-stat`. The driver only
/// removes it at its end, which a killed process does not reach.
fn unlink_counters() {
    let Ok(name) = CString::new(format!("/mongoc-{}", std::process::id())) else { return };
    // SAFETY: the name is terminated. The library stays mapped; if there is none, nothing happens.
    unsafe { libc::shm_unlink(name.as_ptr()) };
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_driver_leaves_no_shared_memory_for_whoever_kills_its_process() {
        if library().is_ok() {
            let name = format!("/dev/shm/mongoc-{}", std::process::id());
            assert!(!Path::new(&name).exists(), "{name}");
        }
    }
}
