//! The function tables of `shim.c`, one for each version of the library whose header was present at
//! build time.

use std::ffi::{c_char, c_int, c_void};

/// A `WT_CONNECTION`, `WT_SESSION` or `WT_CURSOR`.
pub(super) type Raw = *mut c_void;
pub(super) type Text = *const c_char;

/// Bytes that the receiver only reads.
#[repr(C)]
pub(super) struct Bytes {
    pub at: *const u8,
    pub size: usize,
}

impl Bytes {
    #[inline]
    pub(super) const fn new(bytes: &[u8]) -> Self {
        Self { at: bytes.as_ptr(), size: bytes.len() }
    }
}

/// Callback that receives a message, with the context that was passed along with it.
pub(super) type MessageCallback = unsafe extern "C" fn(context: *mut c_void, message: Text);

/// Functions of one version, for the layout of its handles, in the order of `struct shim`.
#[repr(C)]
pub(super) struct Shim {
    pub major: c_int,
    minor: c_int,
    pub session: unsafe extern "C" fn(connection: Raw, session: *mut Raw) -> c_int,
    pub session_close: unsafe extern "C" fn(session: Raw) -> c_int,
    pub close: unsafe extern "C" fn(connection: Raw) -> c_int,
    pub create: unsafe extern "C" fn(session: Raw, uri: Text, config: Text) -> c_int,
    pub drop: unsafe extern "C" fn(session: Raw, uri: Text) -> c_int,
    pub checkpoint: unsafe extern "C" fn(session: Raw) -> c_int,
    pub begin: unsafe extern "C" fn(session: Raw) -> c_int,
    pub commit: unsafe extern "C" fn(session: Raw) -> c_int,
    pub rollback: unsafe extern "C" fn(session: Raw) -> c_int,
    pub verify: unsafe extern "C" fn(
        connection: Raw,
        uri: Text,
        callback: MessageCallback,
        context: *mut c_void,
    ) -> c_int,
    pub cursor: unsafe extern "C" fn(session: Raw, uri: Text, config: Text, out: *mut Raw) -> c_int,
    pub cursor_close: unsafe extern "C" fn(cursor: Raw) -> c_int,
    pub reset: unsafe extern "C" fn(cursor: Raw) -> c_int,
    pub search: unsafe extern "C" fn(cursor: Raw, key: Bytes) -> c_int,
    pub search_near: unsafe extern "C" fn(cursor: Raw, key: Bytes, order: *mut c_int) -> c_int,
    pub next: unsafe extern "C" fn(cursor: Raw) -> c_int,
    pub prev: unsafe extern "C" fn(cursor: Raw) -> c_int,
    pub key: unsafe extern "C" fn(cursor: Raw, key: *mut Bytes) -> c_int,
    pub value: unsafe extern "C" fn(cursor: Raw, value: *mut Bytes) -> c_int,
    pub insert: unsafe extern "C" fn(cursor: Raw, key: Bytes, value: Bytes) -> c_int,
    pub update: unsafe extern "C" fn(cursor: Raw, value: Bytes) -> c_int,
    pub remove: unsafe extern "C" fn(cursor: Raw, key: Bytes) -> c_int,
    pub truncate: unsafe extern "C" fn(
        session: Raw,
        start: Raw,
        from: Bytes,
        stop: Raw,
        last: Bytes,
    ) -> c_int,
    pub count: unsafe extern "C" fn(connection: Raw) -> c_int,
    pub counted: unsafe extern "C" fn(session: Raw, counted: *mut [i64; 2]) -> c_int,
}

unsafe extern "C" {
    #[cfg(wiredtiger_deps)]
    safe static ember_wt_deps: Shim;
    #[cfg(wiredtiger_system)]
    safe static ember_wt_system: Shim;
}

/// Returns the shims in this build: for the header in `.deps`, and for the system's.
fn all() -> impl Iterator<Item = &'static Shim> {
    let found: [Option<&'static Shim>; 2] = [
        #[cfg(wiredtiger_deps)]
        Some(&ember_wt_deps),
        #[cfg(not(wiredtiger_deps))]
        None,
        #[cfg(wiredtiger_system)]
        Some(&ember_wt_system),
        #[cfg(not(wiredtiger_system))]
        None,
    ];
    found.into_iter().flatten()
}

/// Returns the shim for a version of the library. (Patch releases keep the layout of handles.)
///
/// # Errors
/// Fails when this build has no shim for the version. The error lists the versions that have one.
pub(super) fn find(major: c_int, minor: c_int) -> Result<&'static Shim, String> {
    all().find(|shim| (shim.major, shim.minor) == (major, minor)).ok_or_else(|| {
        let known: Vec<_> = all().map(|shim| format!("{}.{}", shim.major, shim.minor)).collect();
        let others = match known.is_empty() {
            true => String::new(),
            false => format!("; it has those of {}", known.join(" and ")),
        };
        format!(
            "it is WiredTiger {major}.{minor}, and embermark was built without the header of that \
             version{others}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_its_shim_or_is_told_with_those_that_have_one() {
        let why = find(0, 9).err().unwrap();
        assert!(
            why.contains("it is WiredTiger 0.9, and embermark was built without the header"),
            "{why}"
        );
        for shim in all() {
            let found = find(shim.major, shim.minor).unwrap();
            assert_eq!((found.major, found.minor), (shim.major, shim.minor));
            assert!(why.contains(&format!("{}.{}", shim.major, shim.minor)), "{why}");
        }
    }
}
