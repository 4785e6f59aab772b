//! The network a server sees.

use std::ffi::CString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};

use nix::unistd::{getegid, geteuid};

/// Which network a server sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// The machine's.
    Shared,
    /// A network namespace of its own with nothing in it but a loopback device: what it listens on
    /// is reached by nobody. Unix sockets that have a path work across namespaces.
    Own,
}

/// The kernel gives no network namespace.
#[derive(Debug, thiserror::Error)]
#[error(
    "it has to run in a network namespace of its own, and the kernel refuses one ({0}); run as \
     root, or let ordinary users have them (`sysctl -w kernel.unprivileged_userns_clone=1` or \
     `kernel.apparmor_restrict_unprivileged_userns=0`, where there is such a setting, and \
     `user.max_user_namespaces` above 0), or name a running server with --url"
)]
pub(super) struct Refused(io::Error);

/// What a child needs to enter a namespace of its own: all of it made before the fork, because
/// after it nothing may be allocated.
pub(super) struct Door {
    uid_map: CString,
    gid_map: CString,
    /// Told by one byte that it was the namespace that failed: of an error in a child, its parent
    /// learns no more than the number.
    failed: PipeWriter,
}

/// Makes a door, and what tells afterwards whether it stayed shut.
pub(super) fn door() -> io::Result<(Door, PipeReader)> {
    let (told, failed) = io::pipe()?;
    let map = |id: u32| CString::new(format!("{id} {id} 1\n")).map_err(io::Error::other);
    let (uid_map, gid_map) = (map(geteuid().as_raw())?, map(getegid().as_raw())?);
    Ok((Door { uid_map, gid_map, failed }, told))
}

/// What an error of starting the child means, once the child's [`Door`] is closed.
pub(super) fn explain(error: io::Error, mut told: PipeReader) -> io::Error {
    match told.read(&mut [0]) {
        Ok(1) => io::Error::other(Refused(error)),
        _ => error,
    }
}

impl Door {
    /// Enters a network namespace of its own, in a child between fork and exec: system calls
    /// alone, no allocation, no lock.
    pub fn enter(&self) -> io::Result<()> {
        self.try_enter().inspect_err(|_| _ = (&self.failed).write(b"!"))
    }

    fn try_enter(&self) -> io::Result<()> {
        match unshare(libc::CLONE_NEWNET) {
            // Only who may administer the system gets one for the asking; anybody else inside a
            // user namespace of his own, where he stays who he is. See user_namespaces(7).
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET)?;
                write(c"/proc/self/setgroups", c"deny")?;
                write(c"/proc/self/uid_map", &self.uid_map)?;
                write(c"/proc/self/gid_map", &self.gid_map)?;
            }
            entered => entered?,
        }
        raise_loopback()
    }
}

fn unshare(what: libc::c_int) -> io::Result<()> {
    // SAFETY: it takes no pointer; the caller has one thread, as after every fork.
    check(unsafe { libc::unshare(what) })
}

fn write(path: &std::ffi::CStr, text: &std::ffi::CStr) -> io::Result<()> {
    let bytes = text.to_bytes();
    // SAFETY: the path ends with a zero byte, and the bytes outlive the call that reads them. The
    // descriptor is closed by the exec, or with the child.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        check(file)?;
        check(libc::write(file, bytes.as_ptr().cast(), bytes.len()).min(0) as libc::c_int)
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
        check(libc::ioctl(socket, libc::SIOCGIFFLAGS as _, &mut request))?;
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
        check(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &mut request))
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
