//! Zen's library, opened once in a process.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::ffi::Api;
use crate::library::{self, Search};

/// Where Zen, and PSQL before it, are installed.
const FOLDERS: [&str; 2] = ["/usr/local/actianzen/lib64", "/usr/local/psql/lib64"];

/// What gets the library.
pub(super) const REMEDY: &str = "install Actian Zen 15 or newer (its client and engine), then set \
                                 ZEN_LIB_DIR to the folder that holds libbtrieveC.so";

/// The library's functions, or why there are none.
pub(super) fn library() -> Result<&'static Api, &'static str> {
    static LIBRARY: OnceLock<Result<Api, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Api, String> {
    let folders = FOLDERS.map(PathBuf::from);
    let search = Search { variable: "ZEN_LIB_DIR", file: "libbtrieveC.so", folders: &folders };
    // SAFETY: it is Zen's, by its name, and never unloaded.
    unsafe { Api::load(search.open()?) }.map_err(|error| library::lacks(&error))
}
