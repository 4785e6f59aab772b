//! MariaDB Connector/C, loaded once per process.

use std::ffi::{CStr, CString, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::NAME;
use super::api::{Api, MariaDbApi};
use crate::library::{Loaded, Search};

pub(super) static LIBRARY: Loaded<Connector> = Loaded::new(
    NAME,
    crate::deps::install_hint(
        "run `make servers`, or set MARIADB_LIB_DIR to a folder that holds libmariadb.so",
        "apt-get install libmariadb3, or set MARIADB_LIB_DIR to a folder that holds libmariadb.so",
    ),
    load,
);

/// Where its package has the authentication plugins, relative to the library's folder.
const PLUGINS: &str = "libmariadb3/plugin";

pub(super) struct Connector {
    pub api: Api,
    pub mariadb: MariaDbApi,
    /// Its version as it reports it, for example `3.3.20`.
    pub version: String,
    /// Folder of its plugins, if it is next to the library. Otherwise the library has its own.
    pub plugins: Option<CString>,
}

fn load() -> Result<(Connector, PathBuf), String> {
    let folders = [crate::deps::folder(NAME).join("lib"), crate::deps::folder("clients")];
    let search = Search { variable: "MARIADB_LIB_DIR", file: "libmariadb.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is Connector/C; the functions have kept their types since
    // version 3.0, the first of that name.
    let (api, mariadb) = unsafe { (Api::load(library)?, MariaDbApi::load(library)?) };
    // SAFETY: no arguments are given, and none are read.
    if unsafe { (api.server_init)(0, ptr::null_mut(), ptr::null_mut()) } != 0 {
        return Err("its library could not be initialised".to_owned());
    }
    // SAFETY: the version is a constant text.
    let version = unsafe { CStr::from_ptr((api.get_client_info)()) }.to_string_lossy().into();
    let plugins = plugins(&api);
    Ok((Connector { api, mariadb, version, plugins }, path))
}

/// Returns the folder of plugins next to the library, wherever the system's loader has found it.
fn plugins(api: &Api) -> Option<CString> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address is only looked up, and zeros are valid for the struct that is filled in.
    let found = unsafe {
        libc::dladdr(api.init as *const libc::c_void, found.as_mut_ptr());
        found.assume_init()
    };
    if found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader keeps the name of a library as long as the library is loaded.
    let file = unsafe { CStr::from_ptr(found.dli_fname) };
    let folder = Path::new(OsStr::from_bytes(file.to_bytes())).parent()?.join(PLUGINS);
    folder.is_dir().then(|| CString::new(folder.as_os_str().as_bytes()).ok())?
}
