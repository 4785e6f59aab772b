//! The system calls that enter a network namespace.

use std::ffi::{CStr, CString};
use std::io;

/// What an ordinary user needs to stay who he is inside a user namespace: made before a fork,
/// because after it nothing may be allocated.
pub(crate) struct Identity {
    uid_map: CString,
    gid_map: CString,
}

impl Identity {
    /// Of this process.
    pub(crate) fn ours() -> io::Result<Self> {
        let map = |id: u32| CString::new(format!("{id} {id} 1\n")).map_err(io::Error::other);
        // SAFETY: both only read, and never fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        Ok(Self { uid_map: map(user)?, gid_map: map(group)? })
    }
}

/// Enters a network namespace of its own, with its loopback device up. Between fork and exec too:
/// system calls alone, no allocation, no lock. The caller has one thread.
pub(crate) fn enter(identity: &Identity) -> io::Result<()> {
    match unshare(libc::CLONE_NEWNET) {
        // Only who may administer the system gets one for the asking; anybody else inside a user
        // namespace of his own, where he stays who he is. See user_namespaces(7).
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

/// A new namespace's loopback device is there but down. See netdevice(7).
fn raise_loopback() -> io::Result<()> {
    // SAFETY: an all-zero `ifreq` is a valid one; its name is shorter than its room and ends with
    // a zero. Both requests read and write that structure alone, and the flags are the member of
    // the union that they use.
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
