//! Requests about network devices, by system calls that neither allocate nor lock: netdevice(7).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A device's name, and what a request reads or writes of it.
pub(crate) struct Interface {
    socket: OwnedFd,
    pub request: libc::ifreq,
}

impl Interface {
    /// Names a device. The name must be shorter than 16 bytes.
    ///
    /// # Errors
    /// If there is no socket to ask by.
    pub fn named(name: &str) -> io::Result<Self> {
        // SAFETY: an all-zero `ifreq` is valid. The socket is new, so nobody else owns it.
        let (mut request, socket): (libc::ifreq, _) = unsafe {
            let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
            let socket = check(libc::socket(libc::AF_INET, kind, 0))?;
            (std::mem::zeroed(), OwnedFd::from_raw_fd(socket))
        };
        let room = request.ifr_name.len() - 1;
        for (place, byte) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        Ok(Self { socket, request })
    }

    /// Makes a request that reads or writes the member of the union that is set.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn ask(&mut self, what: libc::Ioctl) -> io::Result<()> {
        // SAFETY: a request about a device reads and writes only the structure.
        check(unsafe { libc::ioctl(self.socket.as_raw_fd(), what, &mut self.request) }).map(drop)
    }

    /// Raises the device.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn raise(&mut self) -> io::Result<()> {
        self.ask(libc::SIOCGIFFLAGS as libc::Ioctl)?;
        // SAFETY: that request has set the flags.
        unsafe { self.request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
        self.ask(libc::SIOCSIFFLAGS as libc::Ioctl)
    }
}

/// Returns the result of a system call, or its error.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
