//! The environment: opening, its settings as it tells them, its errors.

use std::ffi::{CStr, CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::{io, ptr};

use embermark_model::Durability;

use super::{ID, ffi};
use crate::{EngineError, OpenOptions, Result};

/// Log buffer. The default, 32 KiB, makes a large transaction write its log in many small pieces;
/// at most a quarter of a log file (10 MiB by default) is allowed.
const LOG_BUFFER: u32 = 1 << 20;

/// The library's version, `5.3.28`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { ffi::db_version(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Turns a return code of the library into a result.
#[inline]
pub(super) fn check(code: c_int, doing: &str) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(error(code, doing)) }
}

/// Whether the key was there.
#[inline]
pub(super) fn found(code: c_int, doing: &str) -> Result<bool> {
    match code {
        0 => Ok(true),
        ffi::ABSENT => Ok(false),
        code => Err(error(code, doing)),
    }
}

/// The library's own words for a return code.
#[cold]
pub(super) fn error(code: c_int, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(ffi::db_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// A name without a zero byte, as C wants it.
pub(super) fn c_string(bytes: impl Into<Vec<u8>>, what: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| EngineError::failed(ID, what, error))
}

/// The cache size to ask for, so that `memory` bytes are used: below 500 MB the library adds a
/// quarter to what it is asked for, to hold its own records of the pages.
const fn asked(memory: u64) -> u64 {
    let less = memory / 5 * 4;
    if less < 500 << 20 { less } else { memory }
}

/// Opens the environment with these options; with transactions it runs recovery first, as the manual asks
/// of every first opening.
pub(super) fn open(options: &OpenOptions) -> Result<*mut ffi::Env> {
    let transactions = c_int::from(options.durability != Durability::None);
    let write_nosync = c_int::from(options.durability == Durability::Process);
    let doing = format!("open the environment in {}", options.dir.display());
    let home = c_string(options.dir.as_os_str().as_bytes(), &doing)?;
    let mut env = ptr::null_mut();
    // SAFETY: `home` lives through the call; on success `env` is an open handle that is ours.
    let code = unsafe {
        ffi::ember_env_open(
            &mut env,
            home.as_ptr(),
            asked(options.memory),
            LOG_BUFFER,
            transactions,
            write_nosync,
        )
    };
    check(code, &doing)?;
    Ok(env)
}

/// The settings that matter, read back from an open environment.
///
/// # Safety
/// `env` is open.
pub(super) unsafe fn settings(env: *mut ffi::Env) -> Result<Vec<(String, String)>> {
    let mut facts = ffi::Facts::default();
    // SAFETY: the caller's promise; `facts` has the layout of the shim's struct.
    check(unsafe { ffi::ember_env_facts(env, &mut facts) }, "read its settings back")?;
    let on = |flag: u32| if flag != 0 { "on" } else { "off" }.to_owned();
    let mut settings = vec![
        ("cache".to_owned(), format!("{} bytes in {}", facts.cache_bytes, facts.caches)),
        ("DB_PRIVATE".to_owned(), on(facts.private)),
        ("DB_INIT_LOCK".to_owned(), on(facts.locking)),
        ("DB_INIT_LOG".to_owned(), on(facts.logging)),
        ("DB_INIT_TXN".to_owned(), on(facts.transactions)),
    ];
    if facts.transactions != 0 {
        settings.extend([
            ("DB_TXN_WRITE_NOSYNC".to_owned(), on(facts.write_nosync)),
            ("DB_TXN_NOSYNC".to_owned(), on(facts.nosync)),
            ("DB_LOG_AUTO_REMOVE".to_owned(), on(facts.auto_remove)),
            ("log buffer".to_owned(), format!("{} bytes", facts.log_buffer)),
            ("log file".to_owned(), format!("{} bytes", facts.log_file)),
        ]);
    }
    Ok(settings)
}

/// The page size that new tables get, in bytes: the library derives it from the file system and
/// tells it for an open table only, so one is made and removed.
///
/// # Safety
/// `env` is open, with or without `transactions`.
pub(super) unsafe fn page_size(env: *mut ffi::Env, transactions: bool) -> Result<u32> {
    const FILE: &CStr = c"page-size";
    let doing = "find out the page size";
    let (mut db, mut bytes) = (ptr::null_mut(), 0);
    let transactions = c_int::from(transactions);
    // SAFETY: the caller's promise; on success `db` is an open handle, closed right below.
    check(unsafe { ffi::ember_open(&mut db, env, FILE.as_ptr(), transactions) }, doing)?;
    // SAFETY: `db` is open, and not used after it is closed, whatever closing returns.
    let (told, closed) = unsafe { (ffi::ember_page_size(db, &mut bytes), ffi::ember_close(db, 0)) };
    check(told, doing)?;
    check(closed, doing)?;
    // SAFETY: the caller's promise; no handle of the file is open.
    check(unsafe { ffi::ember_env_remove(env, FILE.as_ptr(), transactions) }, doing)?;
    Ok(bytes)
}

/// Lengths go to the library as 32 bits.
#[inline]
pub(super) fn size(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).map_err(|_| too_long(bytes.len()))
}

#[cold]
fn too_long(bytes: usize) -> EngineError {
    let limit = io::Error::other(format!("{bytes} bytes are more than a record can have"));
    EngineError::failed(ID, "take a key or value", limit)
}
