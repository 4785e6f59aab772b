//! Zen's library, opened once in a process.

use std::path::PathBuf;

use super::ffi::Api;
use crate::library::{Loaded, Search};

/// The folders in which Zen, and PSQL before it, are installed.
const FOLDERS: [&str; 2] = ["/usr/local/actianzen/lib64", "/usr/local/psql/lib64"];

/// The environment variable that names the folder of the library.
pub(super) const VARIABLE: &str = "ZEN_LIB_DIR";

pub(super) static LIBRARY: Loaded<Api> = Loaded::new(
    super::NAME,
    "install Actian Zen 15 or newer (its client and engine), then set ZEN_LIB_DIR to the folder \
     that holds libbtrieveC.so",
    load,
);

fn load() -> Result<(Api, PathBuf), String> {
    let folders = FOLDERS.map(PathBuf::from);
    let search = Search { variable: VARIABLE, file: "libbtrieveC.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is Zen's, and it is never unloaded.
    Ok((unsafe { Api::load(library) }?, path))
}
