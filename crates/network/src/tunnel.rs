//! Sends the traffic of 127.0.0.1 through a device whose packets a process carries.
//!
//! In a network namespace of its own, packets to 127.0.0.1 are routed to a TUN device in place of the
//! loopback device, and what comes in from there is for this machine. So every connection between
//! processes of the namespace takes the way through the process that has the device open, with TCP
//! and UDP of the kernel at both ends. No server and no client is told anything. See tun.rst of the
//! kernel's documentation, ip-rule(8), and ip-sysctl.rst for `route_localnet` and `accept_local`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use crate::interface::{Interface, check};
use crate::loopback::{DEVICE, is_own};
use crate::netlink::{LOCAL, Request};

/// Largest packet in bytes, as on Ethernet.
const MTU: libc::c_int = 1_500;

/// Packets that wait until they are read. What the link drops is the model's decision alone.
const WAITING: libc::c_int = 20_000;

/// Routing table with the way to the device.
const TABLE: u8 = 100;

/// The device through which 127.0.0.1 is reached.
pub struct Tunnel(File);

impl Tunnel {
    /// Creates it in this process's network namespace, which must be its own
    /// ([`enter`](crate::enter)).
    ///
    /// # Errors
    /// If the namespace is shared with others, whose routes would change; if the kernel has no TUN
    /// devices or no routing by rules, or does not let this user have them.
    pub fn create() -> io::Result<Self> {
        if !is_own() {
            return Err(io::Error::other("this process has no network namespace of its own"));
        }
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(|error| explained("/dev/net/tun", &error))?;
        // A new device would look for routers by IPv6, which is traffic of nobody's. A kernel without
        // IPv6 has no such file.
        let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        let index = raise(&opened).map_err(|error| explained("a TUN device", &error))?;
        let set = |of: &str, name: &str, value: &str| {
            let path = format!("/proc/sys/net/ipv4/conf/{of}/{name}");
            fs::write(&path, value).map_err(|error| explained(&path, &error))
        };
        set(DEVICE, "route_localnet", "1")?;
        set(DEVICE, "accept_local", "1")?;
        set(DEVICE, "rp_filter", "0")?;
        set("all", "rp_filter", "0")?;
        for request in [
            Request::rule(1, Some(DEVICE), LOCAL),
            Request::loopback_route(index, TABLE),
            Request::rule(2, None, TABLE),
            // The rule that finds 127.0.0.1 on the loopback device before all others.
            Request::no_rule(0, LOCAL),
        ] {
            request.make().map_err(|error| explained("a route of its own", &error))?;
        }
        Ok(Self(opened))
    }

    /// Gives the device away, to the process that carries its packets.
    pub fn into_file(self) -> File {
        self.0
    }
}

fn explained(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Names the device, sets its sizes and raises it. Returns its index. See netdevice(7).
fn raise(device: &File) -> io::Result<u32> {
    /// `_IOW('T', 202, int)`.
    const TUNSETIFF: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;
    let mut interface = Interface::named(DEVICE)?;
    interface.request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: it reads the name and the flags, and writes only that structure.
    check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF, &mut interface.request) })?;
    interface.request.ifr_ifru.ifru_mtu = MTU;
    interface.ask(libc::SIOCSIFMTU as libc::Ioctl)?;
    interface.request.ifr_ifru.ifru_metric = WAITING;
    interface.ask(libc::SIOCSIFTXQLEN as libc::Ioctl)?;
    interface.raise()?;
    interface.ask(libc::SIOCGIFINDEX as libc::Ioctl)?;
    // SAFETY: that request has set the index.
    Ok(unsafe { interface.request.ifr_ifru.ifru_ifindex } as u32)
}

/// Measures how long one byte takes to 127.0.0.1 and another one back, over TCP: the median of
/// several.
///
/// # Errors
/// If it takes longer than a minute, or nobody can listen there.
pub fn round_trip() -> io::Result<Duration> {
    const TIMES: usize = 7;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut here = TcpStream::connect(listener.local_addr()?)?;
    let (mut there, _) = listener.accept()?;
    for end in [&here, &there] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(Duration::from_secs(60)))?;
    }
    let mut times = [Duration::ZERO; TIMES];
    let mut byte = [0];
    for time in &mut times {
        let began = Instant::now();
        here.write_all(&byte)?;
        there.read_exact(&mut byte)?;
        there.write_all(&byte)?;
        here.read_exact(&mut byte)?;
        *time = began.elapsed();
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}
