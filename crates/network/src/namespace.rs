//! System calls that enter a network namespace.

use std::ffi::{CStr, CString};
use std::io;

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
    pub fn ours() -> io::Result<Self> {
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
    raise_loopback()
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    // SAFETY: it takes no pointer; the caller has one thread, as after every fork.
    check(unsafe { libc::unshare(what) })
}

fn write(path: &CStr, text: &CStr) -> io::Result<()> {
    let bytes = text.to_bytes();
    // SAFETY: the path ends with a zero byte, and the bytes outlive the call that reads them.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        let written = libc::write(file, bytes.as_ptr().cast(), bytes.len());
        let written = check(written.min(0) as libc::c_int);
        libc::close(file);
        written
    }
}

/// A new namespace has a loopback device, which is down. See netdevice(7).
fn raise_loopback() -> io::Result<()> {
    // SAFETY: an all-zero `ifreq` is valid; its name is shorter than its room and ends with a zero.
    // Both requests read and write only that structure, and the flags are the member of the union
    // that they use.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket)?;
        let flags = check(libc::ioctl(socket, libc::SIOCGIFFLAGS as _, &mut request));
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        let raised =
            flags.and_then(|()| check(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &mut request)));
        libc::close(socket);
        raised
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
