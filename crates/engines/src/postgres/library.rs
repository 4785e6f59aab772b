//! libpq, PostgreSQL's client library, loaded once per process.

use std::ffi::c_int;
use std::path::PathBuf;

use super::NAME;
use super::api::{Api, PipelineApi, SetChunkedRowsMode};
use crate::Result;
use crate::library::{Loaded, Search};

const REMEDY: &str = crate::deps::install_hint(
    "run `make servers`, or set LIBPQ_LIB_DIR to a folder that holds libpq.so",
    "apt-get install libpq5, or set LIBPQ_LIB_DIR to a folder that holds libpq.so",
);

/// The library: the one downloaded with the server, which has no TLS, or else the system's.
pub(super) static LIBRARY: Loaded<Libpq> =
    Loaded::new(NAME, REMEDY, || load(&[fetched(), clients()]));

/// The library for connections that may need TLS: the system's, or else the one downloaded with the
/// server.
static FOR_TLS: Loaded<Libpq> = Loaded::new(NAME, REMEDY, || {
    let system = Search { variable: VARIABLE, file: FILE, folders: &[] }.system();
    load(&[system.unwrap_or_default(), clients(), fetched()])
});

const VARIABLE: &str = "LIBPQ_LIB_DIR";
const FILE: &str = "libpq.so";

/// Returns the library for a connection. Connections to a private server state that they are
/// without TLS.
pub(super) fn library_for(connection: &str) -> Result<&'static Libpq> {
    if connection.contains("sslmode=disable") { LIBRARY.get() } else { FOR_TLS.get() }
}

pub(super) struct Libpq {
    pub api: Api,
    /// Returns rows in chunks. Since 17.
    pub set_chunked_rows_mode: Option<SetChunkedRowsMode>,
    /// Sends statements without waiting for answers. Since 14.
    pub pipelines: Option<PipelineApi>,
    /// Its version, for example `15.18`.
    pub version: String,
}

fn fetched() -> PathBuf {
    crate::deps::folder(NAME).join("lib")
}

fn clients() -> PathBuf {
    crate::deps::folder("clients")
}

/// Loads it from the first of these folders that has one, else from the system's.
fn load(folders: &[PathBuf]) -> std::result::Result<(Libpq, PathBuf), String> {
    let search = Search { variable: VARIABLE, file: FILE, folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is PostgreSQL's; libpq.so.5 has kept these functions from
    // release to release.
    let api = unsafe { Api::load(library) }?;
    // SAFETY: as above; the type is that in the header of version 17, the first that has the
    // function.
    let set_chunked_rows_mode =
        unsafe { library.get(c"PQsetChunkedRowsMode").ok().map(|function| *function) };
    // SAFETY: as above; the types are those in the header of version 14, the first that has the
    // functions.
    let pipelines = unsafe { PipelineApi::load(library) }.ok();
    // SAFETY: it has no preconditions.
    if unsafe { (api.isthreadsafe)() } == 0 {
        return Err("its library was built for programs of one thread".to_owned());
    }
    // SAFETY: as above.
    let version = version(unsafe { (api.libVersion)() });
    Ok((Libpq { api, set_chunked_rows_mode, pipelines, version }, path))
}

/// Returns 15.18 for 150018. Before 10 there were three numbers: 90624 is 9.6.24.
fn version(number: c_int) -> String {
    let (major, minor) = (number / 10_000, number % 10_000);
    if major >= 10 {
        format!("{major}.{minor}")
    } else {
        format!("{major}.{}.{}", minor / 100, minor % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_two_numbers_and_was_three() {
        assert_eq!([150_018, 180_000, 90_624].map(version), ["15.18", "18.0", "9.6.24"]);
    }
}
