//! WiredTiger's library, loaded once per process.

use std::ffi::{CStr, c_int};
use std::path::PathBuf;

use super::shim::{self, Raw, Shim, Text};
use crate::EngineError;
use crate::library::{Loaded, Search, functions};

pub(super) const VARIABLE: &str = "WIREDTIGER_LIB_DIR";

const FILE: &str = "libwiredtiger.so";

pub(super) static LIBRARY: Loaded<Library> = Loaded::new(
    super::ID,
    "run `make deps`, or apt-get install libwiredtiger-dev, and build again: it takes the header as \
     well; WIREDTIGER_LIB_DIR names the folder of another libwiredtiger.so",
    load,
);

functions! {
    /// The functions without a handle, without the `wiredtiger_` of their names
    /// (<https://source.wiredtiger.com/11.3.1/group__wt.html>).
    pub(super) struct Api of "wiredtiger_";

    open(home: Text, events: Raw, config: Text, connection: *mut Raw) -> c_int;
    version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> Text;
    strerror(code: c_int) -> Text;
}

pub(super) struct Library {
    pub api: Api,
    /// Functions of its handles.
    pub shim: &'static Shim,
    /// Its version, `11.3.1`.
    pub version: String,
}

/// Returns the system's folder of the library.
pub(super) fn system() -> crate::Result<PathBuf> {
    let search = Search { variable: VARIABLE, file: FILE, folders: &[] };
    search.system().ok_or_else(|| {
        let why = format!("the system has no {FILE}");
        let remedy = "apt-get install libwiredtiger-dev, then build again";
        EngineError::unavailable(super::ID, why, remedy)
    })
}

fn load() -> Result<(Library, PathBuf), String> {
    let folders = [crate::deps::folder(super::ID)];
    let search = Search { variable: VARIABLE, file: FILE, folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is WiredTiger, whose headers have declared these functions in
    // the same way since 1.0.
    let api = unsafe { Api::load(library) }?;
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { (api.version)(&mut major, &mut minor, &mut patch) };
    let shim = shim::find(major, minor).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok((Library { api, shim, version: format!("{major}.{minor}.{patch}") }, path))
}

/// Returns the library's message for a return code.
pub(super) fn error_message(code: c_int) -> String {
    // Without a library there is no code.
    let Ok(library) = LIBRARY.get() else { return format!("error {code}") };
    // SAFETY: returns a NUL-terminated text for any code, which is copied at once.
    unsafe { CStr::from_ptr((library.api.strerror)(code)) }.to_string_lossy().into_owned()
}
