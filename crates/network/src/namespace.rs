//! System calls that enter a network namespace.

use std::ffi::{CStr, CString};
use std::io;

use crate::netlink::{Interface, check_result};

/// The ids of an ordinary user, to keep them in a user namespace. They are formatted before a fork,
/// because nothing can be allocated afterwards.
pub struct Identity {
    uid_map: CString,
    gid_map: CString,
}

impl Identity {
    /// Returns the ids of this process.
    ///
    /// # Errors
    /// Never in practice: the text of numbers has no zero byte.
    pub fn current() -> io::Result<Self> {
        let map = |id: u32| CString::new(format!("{id} {id} 1\n")).map_err(io::Error::other);
        // SAFETY: both only read, and never fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        Ok(Self { uid_map: map(user)?, gid_map: map(group)? })
    }
}

/// Enters a new network namespace, with its loopback device up. It can be called between fork and
/// exec: it only makes system calls, and neither allocates nor locks. The caller must have one
/// thread.
///
/// # Errors
/// If the kernel refuses.
pub fn enter(identity: &Identity) -> io::Result<()> {
    match unshare(libc::CLONE_NEWNET) {
        // Only administrators can create one directly. Others create a user namespace first, in
        // which they keep their ids. See user_namespaces(7).
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)?;
            write(c"/proc/self/setgroups", c"deny")?;
            write(c"/proc/self/uid_map", &identity.uid_map)?;
            write(c"/proc/self/gid_map", &identity.gid_map)?;
        }
        entered => entered?,
    }
    // A new namespace has a loopback device, which is down.
    Interface::open("lo")?.bring_up()
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    // SAFETY: it takes no pointer; the caller has one thread, as after every fork.
    check_result(unsafe { libc::unshare(what) }).map(drop)
}

fn write(path: &CStr, text: &CStr) -> io::Result<()> {
    let bytes = text.to_bytes();
    // SAFETY: the path ends with a zero byte, and the bytes outlive the call that reads them.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check_result(file)?;
        let written = libc::write(file, bytes.as_ptr().cast(), bytes.len());
        let written = check_result(written.min(0) as libc::c_int);
        libc::close(file);
        written.map(drop)
    }
}
