//! LMDB's own check.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;

use super::ID;
use super::ffi::*;
use crate::{Checked, EngineError, Result};

/// The library's words for what it read: a page that is not of its kind or not there, a file that is
/// none of its own, and what a copy says of a page that is in no tree and not free.
const DAMAGE: [i32; 4] = [MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_INCOMPATIBLE];

/// A copy to nowhere that leaves free pages out, which walks every tree and "fails if the environment
/// has suffered a page leak" (<http://www.lmdb.tech/doc/group__mdb.html>, `mdb_env_copy2`). The
/// library has nothing else that reads all pages, and its pages have no checksums.
pub(super) fn walk(env: &Env) -> Result<Checked> {
    const DOING: &str = "check the environment";
    let mut checked = Checked::by("mdb_env_copyfd2 with MDB_CP_COMPACT");
    let nowhere = OpenOptions::new().write(true).open("/dev/null");
    let nowhere = nowhere.map_err(|error| EngineError::file(ID, "open", "/dev/null", error))?;
    // SAFETY: open, both, and neither is closed before the call returns.
    let code = unsafe { mdb_env_copyfd2(env.0.raw, nowhere.as_raw_fd(), MDB_CP_COMPACT) };
    match check(code, DOING) {
        Err(_) if DAMAGE.contains(&code) => checked.found(words(code)),
        done => done?,
    }
    Ok(checked)
}
