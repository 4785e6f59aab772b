//! Requests about network devices, by system calls that neither allocate nor lock: netdevice(7).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A network device, and the structure that a request about it reads or writes.
pub(crate) struct Interface {
    socket: OwnedFd,
    pub request: libc::ifreq,
}

impl Interface {
    /// Opens a socket for requests about the device `name`, which must be shorter than 16 bytes.
    ///
    /// # Errors
    /// If the socket cannot be opened.
    pub fn open(name: &str) -> io::Result<Self> {
        // SAFETY: an all-zero `ifreq` is valid. The socket is new, so nothing else owns it.
        let (mut request, socket): (libc::ifreq, _) = unsafe {
            let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
            let socket = check_result(libc::socket(libc::AF_INET, kind, 0))?;
            (std::mem::zeroed(), OwnedFd::from_raw_fd(socket))
        };
        let room = request.ifr_name.len() - 1;
        for (place, byte) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        Ok(Self { socket, request })
    }

    /// Makes the request `what`, which reads or writes a member of the union in `request`.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn ioctl(&mut self, what: libc::Ioctl) -> io::Result<()> {
        // SAFETY: a request about a device reads and writes only the structure.
        check_result(unsafe { libc::ioctl(self.socket.as_raw_fd(), what, &mut self.request) })
            .map(drop)
    }

    /// Brings the device up.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn bring_up(&mut self) -> io::Result<()> {
        self.ioctl(libc::SIOCGIFFLAGS as libc::Ioctl)?;
        // SAFETY: that request has set the flags.
        unsafe { self.request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
        self.ioctl(libc::SIOCSIFFLAGS as libc::Ioctl)
    }
}

/// Returns the result of a system call, or its error.
pub(crate) fn check_result(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
