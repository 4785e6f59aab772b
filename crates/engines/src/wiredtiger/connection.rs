//! The connection: opening, its settings as it keeps them, its errors.

use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use embermark_model::Durability;

use super::{ID, ffi};
use crate::{EngineError, OpenOptions, Result};

/// Where the library keeps what a database was created with.
const BASE: &str = "WiredTiger.basecfg";
/// What of it is reported.
const REPORTED: &[&str] = &["cache_size", "checkpoint_sync", "log", "transaction_sync"];

/// The library's version, `3.2.1`.
pub(super) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: writes three integers; no other precondition.
    unsafe { ffi::wiredtiger_version(&mut major, &mut minor, &mut patch) };
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
fn error(code: c_int, doing: &str) -> EngineError {
    // SAFETY: returns a NUL-terminated string for any code, which is copied at once.
    let message = unsafe { CStr::from_ptr(ffi::wiredtiger_strerror(code)) };
    EngineError::failed(ID, doing, message.to_string_lossy())
}

/// A name without a zero byte, as C wants it.
pub(super) fn c_string(bytes: impl Into<Vec<u8>>, doing: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| EngineError::failed(ID, doing, error))
}

/// The configuration with these options, in the library's language. Log files are made in advance and are
/// 100 MB each as shipped, which would pass for the size of a small database.
fn config(options: &OpenOptions) -> String {
    let tier = match options.durability {
        Durability::None => "checkpoint_sync=false,log=(enabled=false)",
        Durability::Process => {
            "checkpoint_sync=false,log=(enabled=true,file_max=16MB),\
             transaction_sync=(enabled=true,method=none)"
        }
        Durability::Power => {
            "checkpoint_sync=true,log=(enabled=true,file_max=16MB),\
             transaction_sync=(enabled=true,method=fsync)"
        }
    };
    // The library takes a megabyte at least.
    let cache = options.memory.max(1 << 20);
    format!("create,cache_size={cache},{tier}")
}

/// Opens the database with these options, with its log replayed where there is one, and a session in it.
pub(super) fn open(options: &OpenOptions) -> Result<(*mut ffi::Connection, *mut ffi::Session)> {
    let doing = format!("open the database in {}", options.dir.display());
    let home = c_string(options.dir.as_os_str().as_bytes(), &doing)?;
    let config = c_string(config(options), &doing)?;
    let (mut connection, mut session) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: both texts live through the call; on success both handles are open and ours.
    let code = unsafe {
        ffi::ember_wt_open(home.as_ptr(), config.as_ptr(), &mut connection, &mut session)
    };
    check(code, &doing)?;
    Ok((connection, session))
}

/// The settings that matter, as the library wrote them into the database.
pub(super) fn settings(options: &OpenOptions) -> Result<Vec<(String, String)>> {
    let path = options.dir.join(BASE);
    let base = fs::read_to_string(&path).map_err(|e| EngineError::file(ID, "read", path, e))?;
    let text = base.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(",");
    let named = entries(&text).filter(|(name, _)| REPORTED.contains(name));
    Ok(named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The `name=value` pairs of a configuration; a value may be a list in parentheses.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter_map(|entry| entry.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_in_parentheses_is_one_value() {
        let found: Vec<_> = entries("a=1,log=(enabled=true,path=(x,y)),create,b=").collect();
        assert_eq!(found, [("a", "1"), ("log", "(enabled=true,path=(x,y))"), ("b", "")]);
    }
}
