//! LMDB's environment as a handle that is closed when dropped, and what calls of the library share.

use std::ffi::{CStr, CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

pub(super) use lmdb_master_sys::*;

use super::ID;
use crate::owned::{self, Owned};
use crate::{EngineError, Result};

/// Address space for the map, and with a write map the file's apparent size. Neither takes memory
/// or disk before it is used. 64 GiB, or less down to 1 GiB where a process has no room for that, as on
/// 32 bits, below `ulimit -v` or in an emulator.
const MAPS: [u64; 4] = [1 << 36, 1 << 34, 1 << 32, 1 << 30];
/// Named databases at most.
pub const TABLES: u32 = 40;
/// Files for their owner and whom the umask leaves.
const MODE: u32 = 0o664;

/// Turns a return code of the library into a result.
#[inline]
pub(super) fn check(code: c_int, doing: &str) -> Result<()> {
    if code == MDB_SUCCESS { Ok(()) } else { Err(error(code, doing)) }
}

/// Whether the key was there.
#[inline]
pub(super) fn found(code: c_int, doing: &str) -> Result<bool> {
    if code == MDB_NOTFOUND { Ok(false) } else { check(code, doing).map(|()| true) }
}

#[cold]
fn error(code: c_int, doing: &str) -> EngineError {
    EngineError::failed(ID, doing, words(code))
}

/// The library's own words for a return code.
pub(super) fn words(code: c_int) -> String {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    unsafe { CStr::from_ptr(mdb_strerror(code)) }.to_string_lossy().into_owned()
}

/// The library's version, `0.9.70`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { mdb_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Bytes as the library takes them. It reads through the pointer and does not write, though its
/// type would let it.
#[inline]
pub(super) const fn val(bytes: &[u8]) -> MDB_val {
    MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// What the library is to fill in.
pub(super) const NOTHING: MDB_val = MDB_val { mv_size: 0, mv_data: ptr::null_mut() };

/// Bytes the library points to.
///
/// # Safety
/// As that of [`owned::bytes`].
#[inline]
pub(super) const unsafe fn bytes<'a>(val: MDB_val) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { owned::bytes(val.mv_data.cast(), val.mv_size) }
}

/// An open environment, closed when dropped.
pub(super) struct Env(pub Owned<MDB_env>);

// SAFETY: threads may share an environment, each with transactions of its own
// (<http://www.lmdb.tech/doc/starting.html>).
unsafe impl Send for Env {}
// SAFETY: as above.
unsafe impl Sync for Env {}

impl Env {
    /// Opens the environment in a directory, making it where there is none. A transaction that reads
    /// is bound to no thread (`MDB_NOTLS`).
    pub fn open(dir: &Path, flags: u32) -> Result<Self> {
        let doing = format!("open the environment in {}", dir.display());
        let path = CString::new(dir.as_os_str().as_bytes())
            .map_err(|error| EngineError::failed(ID, &*doing, error))?;
        for map in MAPS.into_iter().filter_map(|map| usize::try_from(map).ok()) {
            let (env, code) = Self::mapped(&path, flags | MDB_NOTLS, map)?;
            if code != libc::ENOMEM {
                return check(code, &doing).map(|()| env);
            }
        }
        Err(error(libc::ENOMEM, &doing))
    }

    /// An environment with a map of that size, and what opening it returned.
    fn mapped(path: &CStr, flags: u32, map: usize) -> Result<(Self, c_int)> {
        let mut raw = ptr::null_mut();
        // SAFETY: on success `raw` is a handle, to be closed even if opening then fails.
        check(unsafe { mdb_env_create(&mut raw) }, "create an environment")?;
        // SAFETY: ours; transactions hold the environment open.
        let env = Self(unsafe { Owned::new(raw, mdb_env_close) });
        // SAFETY: created and not yet open, as the first two ask; the path lives through the call.
        unsafe {
            check(mdb_env_set_mapsize(raw, map), "set the map's size")?;
            check(mdb_env_set_maxdbs(raw, TABLES), "set the number of tables")?;
            Ok((env, mdb_env_open(raw, path.as_ptr(), flags, MODE)))
        }
    }

    /// Syncs to the disk whatever is not yet there.
    pub fn sync(&self) -> Result<()> {
        // SAFETY: open.
        check(unsafe { mdb_env_sync(self.0.raw, 1) }, "sync")
    }

    /// Bytes of a key at most.
    pub fn longest_key(&self) -> usize {
        // SAFETY: open.
        usize::try_from(unsafe { mdb_env_get_maxkeysize(self.0.raw) }).unwrap_or_default()
    }

    /// Its flags, the size of its map and that of its pages.
    pub fn facts(&self) -> Result<(u32, usize, u32)> {
        // SAFETY: plain C structs of integers and a pointer, for which zeros are valid.
        let (mut info, mut stat) = unsafe { std::mem::zeroed::<(MDB_envinfo, MDB_stat)>() };
        let mut flags = 0;
        // SAFETY: open; each fills what it is given.
        unsafe {
            check(mdb_env_get_flags(self.0.raw, &mut flags), "tell its flags")?;
            check(mdb_env_info(self.0.raw, &mut info), "tell its state")?;
            check(mdb_env_stat(self.0.raw, &mut stat), "tell its state")?;
        }
        Ok((flags, info.me_mapsize, stat.ms_psize))
    }
}
