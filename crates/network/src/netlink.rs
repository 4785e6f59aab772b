//! Requests about network devices, netdevice(7), by system calls that neither allocate nor lock, and
//! the routing requests that a link needs: rtnetlink(7). This process makes them by system calls,
//! because a program such as `ip` would lose the rights that an ordinary user has within a user
//! namespace.

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

/// A request to add or remove a rule or a route, as bytes of a netlink message.
pub(crate) struct Request(Vec<u8>);

/// Length of `struct nlmsghdr`, and of `struct rtmsg` and `struct fib_rule_hdr`.
const HEADER: usize = 16;

/// Number of the table with the addresses of this machine.
pub(crate) const LOCAL: u8 = libc::RT_TABLE_LOCAL;

impl Request {
    /// Creates the header, and the body of `struct rtmsg` or `struct fib_rule_hdr`, which have the
    /// same size.
    fn new(kind: u16, flags: libc::c_int, body: [u8; 12]) -> Self {
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend(body);
        Self(bytes)
    }

    /// Adds an attribute: its length, its kind and its value, padded to four bytes.
    fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Adds a rule that looks packets up in `table`: all packets, or those that come in by a device.
    pub fn add_rule(priority: u32, device: Option<&str>, table: u8) -> Self {
        const INTERFACE: u16 = 3;
        let new = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let rule = Self::rule_request(libc::RTM_NEWRULE, new, priority, table);
        match device {
            Some(device) => rule.attribute(INTERFACE, &[device.as_bytes(), &[0]].concat()),
            None => rule,
        }
    }

    /// Removes the rule with this priority.
    pub fn remove_rule(priority: u32, table: u8) -> Self {
        Self::rule_request(libc::RTM_DELRULE, 0, priority, table)
    }

    fn rule_request(kind: u16, flags: libc::c_int, priority: u32, table: u8) -> Self {
        const PRIORITY: u16 = 6;
        const TO_TABLE: u8 = 1;
        let body = [libc::AF_INET as u8, 0, 0, 0, table, 0, 0, TO_TABLE, 0, 0, 0, 0];
        Self::new(kind, flags, body).attribute(PRIORITY, &priority.to_ne_bytes())
    }

    /// Adds a route that sends packets to 127.0.0.0/8, from 127.0.0.1, to the device with this index.
    pub fn loopback_route(index: u32, table: u8) -> Self {
        let new = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let (protocol, kind) = (libc::RTPROT_STATIC, libc::RTN_UNICAST);
        let scope = libc::RT_SCOPE_LINK;
        let body = [libc::AF_INET as u8, 8, 0, 0, table, protocol, scope, kind, 0, 0, 0, 0];
        Self::new(libc::RTM_NEWROUTE, new, body)
            .attribute(libc::RTA_DST, &[127, 0, 0, 0])
            .attribute(libc::RTA_OIF, &index.to_ne_bytes())
            .attribute(libc::RTA_PREFSRC, &[127, 0, 0, 1])
    }

    /// Sends the request to the kernel and waits for its answer.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn send(mut self) -> io::Result<()> {
        let length = self.0.len() as u32;
        self.0[0..4].copy_from_slice(&length.to_ne_bytes());
        // SAFETY: it takes no pointer. The descriptor is new, so nothing else owns it.
        let socket = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let socket = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
            OwnedFd::from_raw_fd(check_result(socket)?)
        };
        let mut answer = [0_u8; 1_024];
        // SAFETY: both get a buffer of this function and its length.
        let got = unsafe {
            let sent = libc::send(socket.as_raw_fd(), self.0.as_ptr().cast(), self.0.len(), 0);
            check_result(sent.min(0) as libc::c_int)?;
            libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0)
        };
        check_result(got.min(0) as libc::c_int)?;
        // An answer is `struct nlmsgerr`: after the header, the error as a negative number, or 0.
        match answer[..got as usize].get(HEADER..HEADER + 4).map(<[u8; 4]>::try_from) {
            Some(Ok(error)) => match i32::from_ne_bytes(error) {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(-error)),
            },
            _ => Err(io::Error::other("the kernel's answer is too short")),
        }
    }
}
